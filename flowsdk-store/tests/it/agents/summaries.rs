//! Summaries of what is over (spec B 3.2, 6).

use flowsdk_agent::model::Item;
use flowsdk_agent::summary::Summarizer;
use flowsdk_core::chat::HasChatCatalog as _;
use flowsdk_core::contact::HasContactCatalog as _;
use flowsdk_core::event::{SummaryReason, SummaryRequest};
use flowsdk_core::store::Store as _;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::desk::{CloseTicket, TransferTicket};
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::world::Agents;
use crate::conversations::flows::flow_of;
use crate::conversations::world::MINUTE;
use crate::helpdesk::desk::Helpdesk;
use crate::support::databases::on_every_database;
use crate::support::stepping::Stepping;

on_every_database! {
    a_ticket_that_agents_close_gets_a_summary,
    a_router_that_asks_for_none_gets_none,
    the_summary_of_a_later_attendance_stays,
    a_chat_that_is_closed_gets_a_summary,
    a_ticket_of_people_has_the_part_of_the_agent,
    a_model_that_writes_nothing_is_asked_again,
    personal_data_are_in_the_summary_and_not_in_its_request,
}

pub(super) struct Scene {
    pub(super) agents: Agents,
    helpdesk: Helpdesk,
    pub(super) summarizer: Summarizer<Stepping>,
}

impl Scene {
    pub(super) async fn new(store: SqlStore) -> Self {
        let rules = json!([
            { "when": { "instructions": "You summarise" }, "text": "Tea." },
            { "when": { "input": "bye" }, "calls": [{ "tool": "endAgentSession" }] },
            { "when": { "input": "human" }, "calls": [{ "tool": "transferToHuman" }] },
            { "when": { "instructions": "You are sales", "input": "^(.*)$" }, "calls": [
                { "tool": "sendTextMessage", "arguments": { "text": "You said {{1}}" } }] },
        ]);
        let agents = Agents::new(store, &rules).await;
        let config = json!({ "summary": { "enabled": true, "model": "small", "maxOutputTokens": 99 } });
        agents
            .change_router(|router| {
                router.copilot_config = Some(config);
                router.llm_credential_id = Some("credential".parse().expect("an id"));
            })
            .await;
        Self { helpdesk: Helpdesk::over(agents.world.clone()), summarizer: agents.summarizer(), agents }
    }

    /// A visitor speaks with the agent until they have said goodbye; what is asked for then.
    pub(super) async fn attend(&self, visitor: &str, text: &str) -> SummaryRequest {
        self.agents.reach(visitor, text).await;
        self.agents.serve(visitor).await;
        self.agents.say(visitor, "bye").await;
        self.agents.serve(visitor).await;
        self.helpdesk.take().await;
        self.requests().await.pop().expect("a request")
    }

    async fn requests(&self) -> Vec<SummaryRequest> {
        let requests = self.agents.world.published(TopicName::Summary).await;
        requests.into_iter().map(|request| serde_json::from_value(request).expect("a request")).collect()
    }

    pub(super) fn will_write(&self, text: &str) {
        self.agents.mind.answer_first([vec![Item::Assistant { text: text.to_owned() }]]);
    }

    pub(super) async fn last_summary(&self, visitor: &str) -> Option<String> {
        let of = [self.agents.world.contact(visitor).await.id];
        let mut tx = self.agents.world.store.read().await.expect("read");
        let found = tx.contact_catalog().find(&of, None).await.expect("find").pop();
        found.expect("a contact").last_session_summary
    }
}

async fn a_ticket_that_agents_close_gets_a_summary(store: SqlStore) {
    let scene = Scene::new(store).await;
    let request = scene.attend("ana", "tea").await;
    let asks = scene.agents.mind.asks();
    scene.will_write(" Ana wanted tea. ");
    for _ in 0..2 {
        scene.summarizer.summarize(&request).await.expect("written");
    }
    assert_eq!(scene.agents.mind.asks(), asks + 1, "what is written is not paid for twice");
    let asked = scene.agents.mind.asked.lock().expect("a lock").last().cloned().expect("an input");
    let [Item::User { text, .. }] = &asked[..] else { panic!("{asked:?}") };
    assert!(text.ends_with("Customer: tea\nAssistant: You said tea\nCustomer: bye"), "{text}");
    let ticket = scene.helpdesk.chain("ana").await.pop().expect("a ticket");
    assert_eq!(ticket.summary.as_deref(), Some("Ana wanted tea."));
    assert_eq!(scene.last_summary("ana").await.as_deref(), Some("Ana wanted tea."));
}

async fn a_router_that_asks_for_none_gets_none(store: SqlStore) {
    let scene = Scene::new(store).await;
    let request = scene.attend("ana", "tea").await;
    let asks = scene.agents.mind.asks();
    scene.agents.change_router(|router| router.copilot_config = None).await;
    scene.summarizer.summarize(&request).await.expect("nothing to do");
    let gone = SummaryRequest { ticket_id: Some("gone".parse().expect("an id")), ..request };
    scene.summarizer.summarize(&gone).await.expect("nothing to do");
    assert_eq!((scene.agents.mind.asks(), scene.last_summary("ana").await), (asks, None));
}

async fn the_summary_of_a_later_attendance_stays(store: SqlStore) {
    let scene = Scene::new(store).await;
    let first = scene.attend("ana", "tea").await;
    scene.agents.world.clock.advance(MINUTE);
    scene.agents.go_on().await;
    let second = scene.attend("ana", "cake").await;
    for (request, text) in [(&second, "cake"), (&first, "tea")] {
        scene.will_write(text);
        scene.summarizer.summarize(request).await.expect("written");
    }
    let summaries: Vec<_> = scene.helpdesk.chain("ana").await.into_iter().map(|one| one.summary).collect();
    assert_eq!(summaries, [Some("tea".to_owned()), Some("cake".to_owned())]);
    assert_eq!(scene.last_summary("ana").await.as_deref(), Some("cake"));
}

async fn a_chat_that_is_closed_gets_a_summary(store: SqlStore) {
    let scene = Scene::new(store).await;
    let world = &scene.agents.world;
    let closing = flow_of(&[json!({ "id": "end", "type": "content", "onEnter": [{ "type": "closeChat" }],
        "contents": [{ "type": "text", "text": { "body": "End" } }], "defaultOutput": { "end": true } })]);
    world.publish("router1", "closing", closing).await;
    world.start_with("router1", "closing").await;
    world.say("bia", "m1", "Where is my tea?").await;
    let [request] = <[SummaryRequest; 1]>::try_from(scene.requests().await).expect("one request");
    assert_eq!((request.reason, &request.ticket_id), (SummaryReason::ChatClosed, &None));
    scene.will_write("Bia asked for her tea.");
    scene.summarizer.summarize(&request).await.expect("written");
    let mut tx = world.store.read().await.expect("read");
    let chat = tx.chat_catalog().find(&request.chat_id).await.expect("find").expect("a chat");
    assert_eq!(chat.summary.as_deref(), Some("Bia asked for her tea."));
    drop(tx);
    assert_eq!(scene.last_summary("bia").await.as_deref(), Some("Bia asked for her tea."));
}

/// Whoever is transferred tells their matter once; the summary is of all of it.
async fn a_ticket_of_people_has_the_part_of_the_agent(store: SqlStore) {
    let scene = Scene::new(store).await;
    for queue in ["q1", "q2"] {
        scene.helpdesk.add_queue(queue, ManualPickup).await;
    }
    let eva = scene.helpdesk.add_agent("eva", &["q1", "q2"]).await;
    scene.agents.reach("ana", "tea").await;
    scene.agents.serve("ana").await;
    scene.agents.world.clock.advance(11 * MINUTE);
    scene.agents.say("ana", "a human please").await;
    scene.agents.serve("ana").await;
    scene.helpdesk.take().await;
    let (desk, by) = (&scene.helpdesk.desk, scene.helpdesk.by(&eva));
    let ticket = desk.pick_up(by, &eva).await.expect("picked up").expect("a ticket");
    let to_queue = TransferTicket { to_user_id: None, to_queue_id: Some("q2".parse().expect("an id")) };
    desk.transfer(by, &ticket.id, to_queue).await.expect("transferred");
    let ticket = desk.pick_up(by, &eva).await.expect("picked up").expect("a ticket");
    desk.close(by, &ticket.id, CloseTicket::default()).await.expect("closed");
    let [request] = <[SummaryRequest; 1]>::try_from(scene.requests().await).expect("one request");
    scene.will_write("Tea.");
    scene.summarizer.summarize(&request).await.expect("written");
    let asked = scene.agents.mind.asked.lock().expect("a lock").last().cloned().expect("an input");
    let [Item::User { text, .. }] = &asked[..] else { panic!("{asked:?}") };
    assert!(text.ends_with("Customer: tea\nAssistant: You said tea\nCustomer: a human please"), "{text}");
}

async fn a_model_that_writes_nothing_is_asked_again(store: SqlStore) {
    let scene = Scene::new(store).await;
    let request = scene.attend("ana", "tea").await;
    scene.will_write("  ");
    scene.summarizer.summarize(&request).await.expect_err("it is empty");
    assert_eq!(scene.last_summary("ana").await, None);
    scene.will_write("Tea.");
    scene.summarizer.summarize(&request).await.expect("written");
    assert_eq!(scene.last_summary("ana").await.as_deref(), Some("Tea."));
}

async fn personal_data_are_in_the_summary_and_not_in_its_request(store: SqlStore) {
    let scene = Scene::new(store).await;
    scene.agents.guard("g1", None, json!({ "maskedData": ["email"] })).await;
    let request = scene.attend("ana", "I am ana@x.example").await;
    scene.will_write("[email 1] wanted tea.");
    scene.summarizer.summarize(&request).await.expect("written");
    assert_eq!(scene.last_summary("ana").await.as_deref(), Some("ana@x.example wanted tea."));
    let asked = scene.agents.mind.asked.lock().expect("a lock");
    assert!(!format!("{asked:?}").contains("ana@x.example"), "{asked:?}");
}
