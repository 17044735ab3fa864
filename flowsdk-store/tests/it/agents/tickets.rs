//! The tickets of AI sessions (spec B 3.2, 4.9).

use flowsdk_core::conversation::ConversationEvent;
use flowsdk_core::event::{AiTicketChange, AiTicketEvent, ExternalJump, FlowEvent, HelpdeskEvent, Sentiment};
use flowsdk_core::session::Mode;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::desk::{CloseTicket, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::queue::DeflectReason;
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::ticket::{
    CloseKind, HANDOFF_TAKES, OpenReason, OpenedByKind, Ticket, TicketError, TicketKind, TicketStatus,
};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::world::Agents;
use crate::conversations::world::{MINUTE, session};
use crate::helpdesk::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    an_ai_session_has_one_ticket,
    the_ticket_follows_the_agents,
    people_go_on_from_the_ticket_of_the_agent,
    a_desk_moves_the_ticket_of_an_agent_to_people,
    two_who_move_a_ticket_at_once_move_it_once,
    a_transfer_to_people_is_never_turned_away,
    a_desk_closes_the_ticket_of_an_agent,
    a_ticket_that_a_desk_closes_keeps_its_sentiments,
    nobody_else_works_the_ticket_of_an_agent,
    the_ticket_of_a_session_that_was_taken_is_closed,
    an_orphan_is_closed_and_chained,
    a_ticket_that_its_agents_forget_is_closed,
    a_category_that_changes_is_told,
    short_messages_show_no_sentiment,
    who_gets_an_angry_contact_is_told,
}

fn says(text: &str) -> Value {
    json!([{ "tool": "sendTextMessage", "arguments": { "text": text } }])
}

/// Ends when the contact says goodbye, transfers on demand, and answers everything else.
fn rules() -> Value {
    json!([
        { "when": { "input": "bye" }, "calls": [{ "tool": "endAgentSession", "arguments": { "reason": "solved" } }] },
        { "when": { "input": "human" }, "calls": [{ "tool": "transferToHuman", "arguments": { "reason": "asks" } }] },
        { "when": { "instructions": "You are sales", "input": "broken" }, "calls": [{ "tool": "transferToAgent",
            "arguments": { "agentId": "care", "handoffContext": "a cup", "lastUserInput": "broken",
                "returnToOrchestrator": true } }] },
        { "when": { "input": "(?s)^(.*)$" }, "calls": says("{{1}}") },
    ])
}

/// Says how the contact feels, as their message begins, beside an answer.
fn feels() -> Value {
    let judge = |sentiment: &str| {
        json!([
            { "tool": "updateSentiment", "arguments": { "sentiment": sentiment, "score": 8.5, "signals": ["!"],
                "escalationRisk": true } },
            { "tool": "sendTextMessage", "arguments": { "text": "I see" } },
        ])
    };
    json!([
        { "when": { "input": "human" }, "calls": [{ "tool": "transferToHuman" }] },
        { "when": { "input": "^angry" }, "calls": judge("angry") },
        { "when": { "input": "^happy" }, "calls": judge("positive") },
        { "when": { "input": "^bye" }, "calls": [{ "tool": "endAgentSession" }] },
    ])
}

struct Staffed {
    agents: Agents,
    helpdesk: Helpdesk,
}

impl Staffed {
    async fn new(store: SqlStore, rules: &Value) -> Self {
        let agents = Agents::new(store, rules).await;
        let helpdesk = Helpdesk::over(agents.world.clone());
        helpdesk.add_queue("q1", ManualPickup).await;
        Self { agents, helpdesk }
    }

    /// A visitor says something to the agent, and the helpdesk hears of it.
    async fn say(&self, visitor: &str, text: &str) {
        self.agents.say(visitor, text).await;
        self.agents.serve(visitor).await;
        self.helpdesk.take().await;
    }

    /// A visitor gets to the agent, and says this to it.
    async fn reach(&self, visitor: &str, text: &str) -> Ticket {
        self.agents.reach(visitor, text).await;
        self.agents.serve(visitor).await;
        self.helpdesk.take().await;
        self.chain(visitor).await.pop().expect("a ticket")
    }

    async fn chain(&self, visitor: &str) -> Vec<Ticket> {
        self.helpdesk.chain(visitor).await
    }
}

async fn an_ai_session_has_one_ticket(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let ticket = it.reach("ana", "tea").await;
    assert_eq!(
        (ticket.kind, ticket.status, ticket.opened_by_kind, ticket.open_reason),
        (TicketKind::Ai, TicketStatus::Assigned, OpenedByKind::AiAgent, OpenReason::AiSession)
    );
    let session = it.agents.session("ana").await;
    assert_eq!((&ticket.chat_id, &ticket.contact_id), (&session.chat_id, &session.contact_id));
    assert_eq!((ticket.epoch, ticket.queue_id), (Some(session.epoch), None));
    assert_eq!(session.agent.and_then(|state| state.ticket_id), Some(ticket.id.clone()));
    it.say("ana", "cake").await;
    it.say("ana", "bye").await;
    let chain = it.chain("ana").await;
    assert_eq!(chain.len(), 1, "{chain:?}");
    assert_eq!(
        (&chain[0].id, chain[0].close_kind, chain[0].close_reason.as_deref()),
        (&ticket.id, Some(CloseKind::Resolved), Some("solved"))
    );
    let summaries = it.agents.world.published(TopicName::Summary).await;
    assert_eq!((summaries.len(), &summaries[0]["ticketId"]), (1, &json!(ticket.id)));
    assert_eq!(it.agents.go_on().await, ["Bye solved"], "the flow hears of it once");
}

async fn the_ticket_follows_the_agents(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let ticket = it.reach("ana", "tea").await;
    assert_eq!(ticket.agent_id, Some("sales".parse().expect("an id")));
    it.agents.say("ana", "my cup is broken").await;
    it.agents.serve("ana").await;
    let events = it.helpdesk.events().await;
    for _ in 0..2 {
        for event in &events {
            it.helpdesk.intake.take(&[event]).await.expect("taken");
        }
    }
    let chain = it.chain("ana").await;
    assert_eq!((chain.len(), &chain[0].agent_id), (1, &Some("care".parse().expect("an id"))));
}

async fn people_go_on_from_the_ticket_of_the_agent(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let ticket = it.reach("ana", "tea").await;
    it.agents.say("ana", "a human please").await;
    it.agents.serve("ana").await;
    let events = it.helpdesk.events().await;
    // All at once, and again.
    let all: Vec<&HelpdeskEvent> = events.iter().collect();
    it.helpdesk.intake.take(&all).await.expect("taken");
    it.helpdesk.intake.take(&all).await.expect("taken");
    let [before, after] = <[Ticket; 2]>::try_from(it.chain("ana").await).expect("two tickets");
    assert_eq!(
        (&before.id, before.close_kind, before.close_reason.as_deref()),
        (&ticket.id, Some(CloseKind::System), Some("asks"))
    );
    assert_eq!((after.kind, after.status), (TicketKind::Human, TicketStatus::Waiting));
    assert_eq!((after.previous_ticket_id, after.opened_by_kind), (Some(ticket.id), OpenedByKind::AiAgent));
    assert_eq!(it.agents.world.published(TopicName::Summary).await, [Value::Null; 0]);
    assert_eq!(it.agents.go_on().await, [""; 0], "people have it");
}

async fn a_desk_moves_the_ticket_of_an_agent_to_people(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    it.helpdesk.add_queue("q2", ManualPickup).await;
    let eva = it.helpdesk.add_agent("eva", &["q1"]).await;
    let ticket = it.reach("ana", "tea").await;
    let to =
        |queue: &str| TransferTicket { to_user_id: None, to_queue_id: Some(queue.parse().expect("an id")) };
    let (desk, by) = (&it.helpdesk.desk, it.helpdesk.by(&eva));
    let refused = desk.transfer(by, &ticket.id, to("nowhere")).await;
    assert!(matches!(refused, Err(TicketError::QueueUnknown)), "{refused:?}");
    let nobody = TransferTicket { to_user_id: Some("nobody".parse().expect("an id")), to_queue_id: None };
    let refused = desk.transfer(by, &ticket.id, nobody).await;
    assert!(matches!(refused, Err(TicketError::AgentUnknown)), "{refused:?}");
    let asked = desk.transfer(by, &ticket.id, to("q2")).await.expect("asked");
    let now = it.agents.world.cx.now();
    assert_eq!(asked, Ticket { handoff_asked_at: Some(now), updated_at: now, ..ticket.clone() });
    // Nobody else moves or closes it meanwhile.
    let refused = desk.transfer(by, &ticket.id, to("q1")).await;
    assert!(matches!(refused, Err(TicketError::HandedOver)), "{refused:?}");
    let refused = desk.close(by, &ticket.id, CloseTicket::default()).await;
    assert!(matches!(refused, Err(TicketError::HandedOver)), "{refused:?}");
    it.agents.deliver().await;
    assert_eq!(it.agents.serve("ana").await, [""; 0]);
    it.helpdesk.take().await;
    let chain = it.chain("ana").await;
    assert_eq!(chain.len(), 2, "{chain:?}");
    assert_eq!((chain[0].close_kind, chain[1].status), (Some(CloseKind::System), TicketStatus::Waiting));
    assert_eq!(chain[1].queue_id, Some("q2".parse().expect("an id")));
    assert_eq!(
        (chain[1].opened_by_kind, &chain[1].opened_by_user_id),
        (OpenedByKind::Agent, &Some(eva.clone()))
    );
    assert_eq!(it.agents.session("ana").await.mode, Mode::Human);
    let refused = desk.transfer(by, &ticket.id, to("q1")).await;
    assert!(matches!(refused, Err(TicketError::Closed)), "{refused:?}");

    // To a user, who gets it at once.
    let ticket = it.reach("bia", "tea").await;
    let to_eva = TransferTicket { to_user_id: Some(eva.clone()), to_queue_id: None };
    desk.transfer(by, &ticket.id, to_eva).await.expect("asked");
    it.agents.deliver().await;
    it.agents.serve("bia").await;
    it.helpdesk.take().await;
    let chain = it.chain("bia").await;
    assert_eq!(chain[1].assigned_user_id, Some(eva));
}

async fn two_who_move_a_ticket_at_once_move_it_once(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let eva = it.helpdesk.add_agent("eva", &["q1"]).await;
    let ticket = it.reach("ana", "tea").await;
    let (desk, by) = (&it.helpdesk.desk, it.helpdesk.by(&eva));
    let to_queue = || TransferTicket { to_user_id: None, to_queue_id: Some("q1".parse().expect("an id")) };
    let (one, other, closed) = tokio::join!(
        desk.transfer(by, &ticket.id, to_queue()),
        desk.transfer(by, &ticket.id, to_queue()),
        desk.close(by, &ticket.id, CloseTicket::default()),
    );
    let done = [one.is_ok(), other.is_ok(), closed.is_ok()];
    assert_eq!(done.iter().filter(|done| **done).count(), 1, "{one:?} {other:?} {closed:?}");
    it.agents.deliver().await;
    it.agents.serve("ana").await;
    it.helpdesk.take().await;
    assert_eq!(it.chain("ana").await.len(), if closed.is_ok() { 1 } else { 2 });

    // Where nothing comes of it, they may be asked once more.
    let ticket = it.reach("bia", "tea").await;
    desk.transfer(by, &ticket.id, to_queue()).await.expect("asked");
    it.agents.world.clock.advance(HANDOFF_TAKES);
    desk.transfer(by, &ticket.id, to_queue()).await.expect("asked once more");
}

async fn a_transfer_to_people_is_never_turned_away(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    it.helpdesk.change_queue("q1", |queue| queue.deflect_when = vec![DeflectReason::NoAgent]).await;
    let eva = it.helpdesk.add_agent("eva", &[]).await;
    let ticket = it.reach("ana", "tea").await;
    let to_queue = TransferTicket { to_user_id: None, to_queue_id: Some("q1".parse().expect("an id")) };
    it.helpdesk.desk.transfer(it.helpdesk.by(&eva), &ticket.id, to_queue).await.expect("asked");
    it.agents.deliver().await;
    it.agents.serve("ana").await;
    it.helpdesk.take().await;
    assert_eq!(it.agents.go_on().await, [""; 0], "people have it");
    let chain = it.chain("ana").await;
    assert_eq!((chain.len(), chain[1].status), (2, TicketStatus::Waiting));
    // Where the agent itself hands over, the queue decides.
    it.reach("bia", "tea").await;
    it.say("bia", "a human please").await;
    assert_eq!(it.chain("bia").await.len(), 1);
    assert_eq!(it.agents.session("bia").await.mode, Mode::Human);
    assert_eq!(it.agents.go_on().await.len(), 1, "the flow goes on");
}

async fn a_desk_closes_the_ticket_of_an_agent(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let eva = it.helpdesk.add_agent("eva", &["q1"]).await;
    let ticket = it.reach("ana", "tea").await;
    let close = CloseTicket { reason: Some("enough".to_owned()), ..CloseTicket::default() };
    let closed = it.helpdesk.desk.close(it.helpdesk.by(&eva), &ticket.id, close).await.expect("closed");
    assert_eq!((closed.close_kind, &closed.closed_by_user_id), (Some(CloseKind::Resolved), &Some(eva)));
    assert_eq!(it.agents.world.published(TopicName::Summary).await.len(), 1);
    assert_eq!(it.agents.go_on().await, ["Bye enough"]);
    assert_eq!(it.agents.session("ana").await.mode, Mode::Flow);
    // What the agents say of it afterwards changes nothing.
    it.agents.deliver().await;
    it.agents.serve("ana").await;
    it.helpdesk.take().await;
    assert_eq!(it.chain("ana").await, [closed]);
}

async fn a_ticket_that_a_desk_closes_keeps_its_sentiments(store: SqlStore) {
    let it = Staffed::new(store, &feels()).await;
    let each_turn = json!({ "enabled": true, "perRound": { "enabled": true } });
    it.agents.change_router(|router| router.sentiment_config = Some(each_turn)).await;
    let eva = it.helpdesk.add_agent("eva", &["q1"]).await;
    let ticket = it.reach("ana", "angry").await;
    it.say("ana", "happy").await;
    let (desk, by) = (&it.helpdesk.desk, it.helpdesk.by(&eva));
    let closed = desk.close(by, &ticket.id, CloseTicket::default()).await.expect("closed");
    let turns: Vec<(u32, Sentiment)> =
        closed.sentiment_history.iter().map(|item| (item.turn, item.sentiment)).collect();
    assert_eq!(turns, [(1, Sentiment::Angry), (2, Sentiment::Positive)]);
    let last = closed.sentiment_result.map(|result| result.item.sentiment);
    assert_eq!(last, Some(Sentiment::Positive));
    assert_eq!(it.chain("ana").await[0].sentiment_history, closed.sentiment_history, "it is stored");
}

async fn nobody_else_works_the_ticket_of_an_agent(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let eva = it.helpdesk.add_agent("eva", &["q1"]).await;
    it.helpdesk.online("eva").await;
    let ticket = it.reach("ana", "tea").await;
    let (desk, by) = (&it.helpdesk.desk, it.helpdesk.by(&eva));
    assert_eq!(desk.pick_up(by, &eva).await.expect("asked"), None, "it does not wait");
    for to in [None, Some(&eva)] {
        let refused = desk.assign(by, &ticket.id, to).await;
        assert!(matches!(refused, Err(TicketError::WithAgents)), "{refused:?}");
    }
    let refused = desk.reply(by, &ticket.id, ReplyToContact::text("hi"), None).await;
    assert!(matches!(refused, Err(TicketError::WithAgents)), "{refused:?}");
    it.helpdesk.sweep.tick().await.expect("swept");
    it.helpdesk.sweep.take_back().await.expect("swept");
    assert_eq!(it.chain("ana").await, [ticket]);
}

async fn the_ticket_of_a_session_that_was_taken_is_closed(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    it.reach("ana", "tea").await;
    let jump = ExternalJump {
        session_id: session("ana"),
        flow_id: "attended".parse().expect("an id"),
        block_id: "ask".parse().expect("an id"),
        execute_on_entry: true,
        redirect_id: None,
        ahead: false,
    };
    it.agents.world.handle(ConversationEvent::Flow(FlowEvent::ExternalJump(jump))).await;
    it.agents.deliver().await;
    it.agents.serve("ana").await;
    it.helpdesk.take().await;
    assert_eq!(it.chain("ana").await[0].close_kind, Some(CloseKind::System));
    assert_eq!(it.agents.world.published(TopicName::Summary).await, [Value::Null; 0]);
}

async fn an_orphan_is_closed_and_chained(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    let orphan = it.reach("ana", "tea").await;
    let now = it.agents.world.cx.now() + MINUTE;
    let event = |id: &str, epoch| {
        HelpdeskEvent::AiTicket(AiTicketEvent {
            session_id: session("ana"),
            chat_id: orphan.chat_id.clone(),
            ticket_id: id.parse().expect("an id"),
            router_id: orphan.router_id.clone(),
            change: AiTicketChange::Created {
                contact_id: orphan.contact_id.clone(),
                agent_id: "sales".parse().expect("an id"),
                epoch,
            },
            contact_wrote_at: None,
            timestamp: now,
        })
    };
    let epoch = orphan.epoch.expect("an epoch");
    let (second, third) = (event("second", epoch + 2), event("third", epoch + 4));
    it.helpdesk.intake.take(&[&second, &third]).await.expect("taken");
    it.helpdesk.intake.take(&[&second]).await.expect("taken");
    let mut chain = it.chain("ana").await;
    chain.sort_by_key(|ticket| ticket.epoch);
    let of = |ticket: &Ticket| (ticket.close_kind, ticket.previous_ticket_id.clone());
    let expected = [
        (Some(CloseKind::System), None),
        (Some(CloseKind::System), Some(orphan.id)),
        (None, Some("second".parse().expect("an id"))),
    ];
    assert_eq!(chain.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(it.agents.go_on().await, [""; 0], "the session is the third one's");
    // A contact who is gone leaves nothing.
    let HelpdeskEvent::AiTicket(mut gone) = event("fourth", epoch + 6) else { panic!("a ticket") };
    gone.session_id = session("nobody");
    it.helpdesk.intake.take(&[&HelpdeskEvent::AiTicket(gone)]).await.expect("taken");
    assert_eq!(it.chain("ana").await.len(), 3);
}

async fn a_ticket_that_its_agents_forget_is_closed(store: SqlStore) {
    let it = Staffed::new(store, &rules()).await;
    it.reach("ana", "tea").await;
    it.agents.say("ana", "bye").await;
    it.agents.serve("ana").await;
    assert_eq!(it.agents.go_on().await, ["Bye solved"]);
    // Its end is on its way, and may be lost.
    it.helpdesk.sweep.tick().await.expect("swept");
    assert!(it.chain("ana").await[0].is_open());
    it.agents.world.clock.advance(11 * MINUTE);
    it.helpdesk.sweep.tick().await.expect("swept");
    assert_eq!(it.chain("ana").await[0].close_kind, Some(CloseKind::System));
    assert_eq!(it.agents.go_on().await, [""; 0]);
}

async fn a_category_that_changes_is_told(store: SqlStore) {
    let it = Staffed::new(store, &feels()).await;
    let each_turn = json!({ "enabled": true, "perRound": { "enabled": true } });
    it.agents.change_router(|router| router.sentiment_config = Some(each_turn)).await;
    it.reach("ana", "angry about tea").await;
    let sentiment = |ticket: &Ticket| ticket.sentiment_result.as_ref().map(|result| result.item.sentiment);
    assert_eq!(sentiment(&it.chain("ana").await[0]), Some(Sentiment::Angry));
    it.agents.say("ana", "angry still").await;
    it.agents.serve("ana").await;
    assert_eq!(it.helpdesk.events().await, [], "nothing new");
    it.say("ana", "happy at last").await;
    assert_eq!(sentiment(&it.chain("ana").await[0]), Some(Sentiment::Positive));
    it.say("ana", "bye").await;
    let ticket = it.chain("ana").await.remove(0);
    let history: Vec<_> = ticket.sentiment_history.iter().map(|item| (item.turn, item.sentiment)).collect();
    assert_eq!(history, [(1, Sentiment::Angry), (2, Sentiment::Angry), (3, Sentiment::Positive)]);
}

async fn short_messages_show_no_sentiment(store: SqlStore) {
    let it = Staffed::new(store, &feels()).await;
    let long_ones = json!({ "enabled": true, "perRound": { "enabled": true, "minMessageLength": 8 } });
    it.agents.change_router(|router| router.sentiment_config = Some(long_ones)).await;
    assert_eq!(it.reach("ana", "angry!").await.sentiment_result, None);
    it.say("ana", "angry!!!").await;
    let ticket = it.chain("ana").await.remove(0);
    assert_eq!(ticket.sentiment_result.expect("a sentiment").item.turn, 2);
    // Where it is not asked for, the model has no such tool.
    it.agents.change_router(|router| router.sentiment_config = None).await;
    assert_eq!(it.reach("bia", "angry about tea").await.sentiment_result, None);
}

async fn who_gets_an_angry_contact_is_told(store: SqlStore) {
    let it = Staffed::new(store, &feels()).await;
    let each_turn = json!({ "enabled": true, "perRound": { "enabled": true } });
    it.agents.change_router(|router| router.sentiment_config = Some(each_turn)).await;
    let eva = it.helpdesk.add_agent("eva", &["q1"]).await;
    let ticket = it.reach("ana", "angry about tea").await;
    let to_eva = TransferTicket { to_user_id: Some(eva.clone()), to_queue_id: None };
    it.helpdesk.desk.transfer(it.helpdesk.by(&eva), &ticket.id, to_eva).await.expect("asked");
    it.agents.deliver().await;
    it.agents.serve("ana").await;
    it.helpdesk.take().await;
    assert_eq!(it.helpdesk.heard(&eva).await, ["ticket:assigned", "ticket:sentiment"]);
    let after = it.chain("ana").await.pop().expect("a ticket");
    assert_eq!(after.sentiment_result, ticket.sentiment_result);
}
