//! Turns as people read them.

use flowsdk_agent::ledger::{AgentTurnFilter, AgentTurnId, HasAgentTurns as _, TurnDigest};
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::world::Agents;
use crate::conversations::world::{MINUTE, session};
use crate::support::databases::on_every_database;

on_every_database! {
    turns_are_listed_by_whatever_they_are_looked_for,
    a_turn_is_found_with_all_that_was_said,
}

impl Agents {
    async fn listed(&self, filter: AgentTurnFilter) -> Vec<TurnDigest> {
        let page = PageRequest { limit: 50, after: None };
        let mut tx = self.world.store.read().await.expect("read");
        tx.agent_turns().list(&filter, None, &page).await.expect("a page").items
    }
}

async fn turns_are_listed_by_whatever_they_are_looked_for(store: SqlStore) {
    let says = json!([{ "tool": "sendTextMessage", "arguments": { "text": "Hello" } }]);
    let agents = Agents::new(store, &json!([{ "when": { "input": "hi" }, "calls": says }])).await;
    agents.reach("ana", "hi").await;
    agents.serve("ana").await;
    agents.world.clock.advance(MINUTE);
    agents.change_agent("sales", |agent| agent.is_active = false).await;
    agents.reach("bob", "hi").await;
    agents.serve("bob").await;

    let visitors = async |filter: AgentTurnFilter| {
        let listed = agents.listed(filter).await;
        listed.iter().map(|turn| turn.session_id.party().to_owned()).collect::<Vec<_>>()
    };
    let all = AgentTurnFilter::default;
    let router = agents.world.router.clone();
    let chat = agents.session("ana").await.chat_id;
    assert_eq!(visitors(all()).await, ["bob", "ana"], "the newest first");
    for (filter, expected) in [
        (AgentTurnFilter { router_id: Some(router.clone()), ..all() }, &["bob", "ana"][..]),
        (AgentTurnFilter { agent_id: Some("sales".parse().expect("an id")), ..all() }, &["bob", "ana"]),
        (AgentTurnFilter { agent_id: Some("care".parse().expect("an id")), ..all() }, &[]),
        (AgentTurnFilter { session_id: Some(session("ana")), ..all() }, &["ana"]),
        (AgentTurnFilter { chat_id: Some(chat), ..all() }, &["ana"]),
        (AgentTurnFilter { has_failed: Some(true), ..all() }, &["bob"]),
        (AgentTurnFilter { has_failed: Some(false), ..all() }, &["ana"]),
        (AgentTurnFilter { is_running: Some(true), ..all() }, &[]),
        (AgentTurnFilter { is_running: Some(false), has_failed: Some(true), ..all() }, &["bob"]),
        (AgentTurnFilter { router_id: Some("another".parse().expect("an id")), ..all() }, &[]),
    ] {
        assert_eq!(visitors(filter.clone()).await, expected, "{filter:?}");
    }

    let mut tx = agents.world.store.read().await.expect("read");
    let first = PageRequest { limit: 1, after: None };
    let page = tx.agent_turns().list(&all(), None, &first).await.expect("a page");
    let rest = PageRequest { limit: 5, after: page.next };
    let rest = tx.agent_turns().list(&all(), None, &rest).await.expect("a page");
    assert_eq!((page.items.len(), rest.items.len(), rest.next), (1, 1, None));
    let only: Vec<RouterId> = vec![router, "another".parse().expect("an id")];
    let scoped = tx.agent_turns().list(&all(), Some(&only), &first).await.expect("a page");
    assert_eq!(scoped.items, page.items);
    let foreign = tx.agent_turns().list(&all(), Some(&only[1..]), &first).await.expect("a page");
    assert_eq!(foreign.items, []);
}

async fn a_turn_is_found_with_all_that_was_said(store: SqlStore) {
    let says = json!([
        { "tool": "setVariable", "arguments": { "key": "a", "value": 1 } },
        { "tool": "sendTextMessage", "arguments": { "text": "Hello" } }
    ]);
    let agents = Agents::new(store, &json!([{ "when": { "input": "hi" }, "calls": says }])).await;
    agents.reach("ana", "hi").await;
    agents.serve("ana").await;
    let listed = agents.listed(AgentTurnFilter::default()).await.remove(0);
    let mut tx = agents.world.store.read().await.expect("read");
    let turn = tx.agent_turns().find(&listed.id).await.expect("found").expect("a turn");
    assert_eq!((turn.answers, turn.items.len()), (listed.answers, 5));
    assert_eq!((listed.course.calls(), listed.number, listed.is_running), (2, 1, false));
    let nothing: AgentTurnId = "nothing".parse().expect("an id");
    assert_eq!(tx.agent_turns().find(&nothing).await.expect("found"), None);
}
