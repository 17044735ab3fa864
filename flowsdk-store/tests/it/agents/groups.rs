//! Turns of many sessions at once: what they have to write at one moment is one commit.

use flowsdk_agent::executor::Served;
use flowsdk_core::session::Mode;
use flowsdk_store::sql::SqlStore;
use futures_util::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::Agents;
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    sessions_that_are_served_at_once_are_answered_once_each,
}

/// So many that they wait for each other.
const VISITORS: usize = 24;

/// Serves all visitors at once. Returns what is said.
async fn serve_all(agents: &Agents, visitors: &[String]) -> Vec<String> {
    let go_on = CancellationToken::new();
    let ids: Vec<_> = visitors.iter().map(|visitor| session(visitor)).collect();
    let served = join_all(ids.iter().map(|id| agents.executor.serve(id, &go_on))).await;
    for (visitor, served) in visitors.iter().zip(served) {
        assert_eq!(served.expect("served"), Served::Done, "{visitor}");
    }
    let mut told = agents.told();
    told.sort();
    told
}

async fn sessions_that_are_served_at_once_are_answered_once_each(store: SqlStore) {
    let agents = Agents::new(
        store,
        &json!([{ "when": { "input": "^(.*)$" }, "calls": [
            { "tool": "setVariable", "arguments": { "key": "said", "value": "{{1}}" } },
            { "tool": "setContactVariable", "arguments": { "key": "heard", "value": "{{1}}" } },
            { "tool": "sendTextMessage", "arguments": { "text": "You said {{1}}" } }] }]),
    )
    .await;
    let mut visitors: Vec<String> = (0..VISITORS).map(|number| format!("v{number:02}")).collect();
    for visitor in &visitors {
        agents.reach(visitor, visitor).await;
    }
    agents.take_by_desk(&session("v03")).await;
    let told = serve_all(&agents, &visitors).await;
    visitors.remove(3);
    let expected: Vec<String> = visitors.iter().map(|visitor| format!("You said {visitor}")).collect();
    assert_eq!(told, expected, "all but the one whom the desk has taken");
    assert_eq!(agents.session("v03").await.mode, Mode::Human);
    for visitor in &visitors {
        agents.say(visitor, &format!("{visitor} again")).await;
    }
    let told = serve_all(&agents, &visitors).await;
    let expected: Vec<String> = visitors.iter().map(|visitor| format!("You said {visitor} again")).collect();
    assert_eq!(told, expected);
    for visitor in &visitors {
        let session = agents.session(visitor).await;
        assert_eq!(session.variables["said"], format!("{visitor} again"));
        assert_eq!(agents.world.contact(visitor).await.variables["heard"], format!("{visitor} again"));
        let turns = agents.turns(visitor, session.epoch, 0).await;
        let ended = turns.iter().filter(|turn| !turn.is_running && turn.error.is_none()).count();
        assert_eq!((turns.len(), ended), (2, 2), "{visitor}");
        assert!(turns[1].number == 2 && turns[1].router_id == session.router_id);
    }
}
