//! Handoffs become tickets (spec B 3.2, 4.7).

use std::time::Duration;

use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::event::{DeliveryStatus, HelpdeskEvent, StatusEvent};
use flowsdk_core::id::MessageId;
use flowsdk_core::message::{Sender, StatusError};
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::session::{HasSessions as _, Mode};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::desk::ReplyToContact;
use flowsdk_helpdesk::intake::{FORGOTTEN_AFTER, HasStuckHandoffs as _, StuckHandoff};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::rule::DistributionRule;
use flowsdk_helpdesk::ticket::{CloseKind, OpenReason, OpenedByKind, TicketStatus};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::desk::{Helpdesk, holder};
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    a_handoff_becomes_a_waiting_ticket,
    a_handoff_that_comes_again_makes_no_second_ticket,
    a_preset_user_gets_the_ticket_at_once,
    another_handoff_of_the_chat_takes_the_place_of_the_one_before,
    rules_send_handoffs_to_their_queues,
    a_handoff_without_a_queue_waits_until_there_is_one,
    a_session_that_has_moved_on_gets_no_ticket,
    messages_of_the_contact_are_noted,
    a_closed_window_closes_the_ticket,
    a_forgotten_session_gets_its_ticket,
}

async fn a_handoff_becomes_a_waiting_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!(
        (ticket.status, ticket.queue_id.as_str(), holder(&ticket)),
        (TicketStatus::Waiting, "q1", None)
    );
    assert_eq!((ticket.opened_by_kind, ticket.open_reason), (OpenedByKind::Flow, OpenReason::HumanHandoff));
    let session = desk.session("ana").await;
    assert_eq!((session.mode, ticket.epoch), (Mode::Human, Some(session.epoch)));
    assert_eq!(session.helpdesk.and_then(|state| state.ticket_id), Some(ticket.id));
    assert_eq!((ticket.chat_id, ticket.contact_id), (session.chat_id, session.contact_id));
}

async fn a_handoff_that_comes_again_makes_no_second_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.arrive("ana", "bill").await;
    let events = desk.events().await;
    for _ in 0..3 {
        for event in &events {
            desk.intake.take(&[event]).await.expect("taken");
        }
    }
    assert_eq!(desk.chain("ana").await.len(), 1);
    // Not even when the first ticket is closed.
    let ana = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.desk.pick_up(desk.by(&ana), &ana).await.expect("picked up").expect("a ticket");
    desk.desk.close(desk.by(&ana), &ticket.id, Default::default()).await.expect("closed");
    desk.intake.take(&[&events[0]]).await.expect("taken");
    assert_eq!(desk.chain("ana").await.len(), 1);
}

async fn a_preset_user_gets_the_ticket_at_once(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.add_agent("eva", &["q1"]).await;
    for (visitor, user, expected) in [("ana", "eva", Some("eva")), ("bia", "nobody", None)] {
        desk.arrive(visitor, "bill").await;
        for event in desk.events().await {
            let HelpdeskEvent::Handoff(mut event) = event else { panic!("{event:?}") };
            event.preset_user_id = Some(user.parse().expect("an id"));
            desk.intake.take(&[&HelpdeskEvent::Handoff(event)]).await.expect("taken");
        }
        let ticket = desk.open_ticket(visitor).await.expect("a ticket");
        assert_eq!(holder(&ticket), expected, "{user}");
        assert_eq!(ticket.assigned_at.is_some(), expected.is_some());
    }
}

async fn another_handoff_of_the_chat_takes_the_place_of_the_one_before(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    // The flow goes on without the desk, and hands over once more.
    let mut session = desk.session("ana").await;
    let version = session.version;
    session.version += 1;
    session.epoch += 2;
    let mut tx = desk.world.store.begin().await.expect("begin");
    let write = flowsdk_core::session::SessionWrite { session: &session, expected: Some(version) };
    tx.sessions().save_many(&[write]).await.expect("saved");
    tx.commit().await.expect("commit");
    let event = flowsdk_core::event::HandoffEvent {
        session_id: session.id.clone(),
        chat_id: session.chat_id.clone(),
        phone_number_id: session.id.phone_number_id().to_owned(),
        router_id: session.router_id.clone(),
        contact: flowsdk_core::event::HandoffContact {
            id: session.contact_id.clone(),
            name: "Ana".to_owned(),
            phone_number: String::new(),
            variables: serde_json::Map::new(),
        },
        context_variables: session.variables.clone(),
        preset_queue_id: None,
        preset_user_id: None,
        epoch: Some(session.epoch),
        timestamp: desk.world.cx.now(),
    };
    desk.intake.take(&[&HelpdeskEvent::Handoff(event)]).await.expect("taken");
    let [before, after] = &desk.chain("ana").await[..] else { panic!("two tickets") };
    assert_eq!((&before.id, before.close_kind), (&first.id, Some(CloseKind::HandoffReplaced)));
    assert_eq!((after.status, after.previous_ticket_id.as_ref()), (TicketStatus::Waiting, Some(&first.id)));
    // The hand-back of the one before does nothing to the session, which has another owner by now.
    assert_eq!(desk.go_on().await, [""; 0]);
    assert_eq!(desk.session("ana").await.mode, Mode::Human);
}

async fn rules_send_handoffs_to_their_queues(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    for queue in ["q1", "q2"] {
        desk.add_queue(queue, ManualPickup).await;
    }
    let rule = |id: &str, subject: &str, priority: i64, is_active: bool| DistributionRule {
        id: id.parse().expect("an id"),
        router_id: "router1".parse().expect("an id"),
        name: id.to_owned(),
        priority,
        conditions: serde_json::from_value(json!([{ "source": { "type": "context", "key": "subject" },
            "comparator": "contains", "values": [subject] }]))
        .expect("conditions"),
        target_queue_id: id.parse().expect("an id"),
        flow_id: None,
        is_active,
        created_at: desk.world.cx.now(),
        updated_at: desk.world.cx.now(),
    };
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.records().insert(&rule("q2", "bill", 1, true)).await.expect("a rule");
    let off = DistributionRule { id: "off".parse().expect("an id"), ..rule("q2", "order", 0, false) };
    tx.records().insert(&off).await.expect("a rule");
    tx.commit().await.expect("commit");
    for (visitor, subject, queue) in [("ana", "my bill", "q2"), ("bia", "my order", "q1")] {
        let ticket = desk.hand_over(visitor, subject).await.expect("a ticket");
        assert_eq!(ticket.queue_id.as_str(), queue, "{subject}");
    }
}

async fn a_handoff_without_a_queue_waits_until_there_is_one(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    let stuck = async || -> Vec<StuckHandoff> {
        let mut tx = desk.world.store.read().await.expect("read");
        tx.stuck_handoffs().list(None, None, &Default::default()).await.expect("list").items
    };
    // A queue of another router does not take it.
    desk.world.add_router("router2", "c2").await;
    desk.add_queue_to("router2", "elsewhere", LeastLoaded).await;
    assert_eq!(desk.hand_over("ana", "bill").await, None);
    let [first] = &stuck().await[..] else { panic!("one") };
    assert_eq!((first.attempts, &first.session_id), (1, &session("ana")));
    desk.intake.retry_stuck(100).await.expect("tried");
    assert_eq!(stuck().await[0].attempts, 1, "not before its time");
    let mut pauses = Vec::new();
    for _ in 0..9 {
        let before = stuck().await.remove(0);
        let pause =
            Duration::from_millis((before.due_at.as_millis() - desk.world.cx.now().as_millis()) as u64);
        pauses.push(pause.as_secs());
        desk.world.clock.advance(pause);
        desk.intake.retry_stuck(100).await.expect("tried");
        let after = stuck().await.remove(0);
        assert_eq!((after.attempts, after.created_at), (before.attempts + 1, before.created_at));
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
    desk.add_queue("q1", ManualPickup).await;
    desk.world.clock.advance(Duration::from_secs(300));
    desk.intake.retry_stuck(100).await.expect("tried");
    let ticket = desk.open_ticket("ana").await.expect("a ticket");
    assert_eq!((ticket.status, ticket.queue_id.as_str()), (TicketStatus::Waiting, "q1"));
    assert_eq!(stuck().await, []);
}

async fn a_session_that_has_moved_on_gets_no_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.arrive("ana", "bill").await;
    let events = desk.events().await;
    desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.sessions().delete_many(&[&session("ana")]).await.expect("deleted");
    tx.commit().await.expect("commit");
    desk.add_queue("q1", ManualPickup).await;
    desk.world.clock.advance(Duration::from_secs(300));
    desk.intake.retry_stuck(100).await.expect("tried");
    desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    assert_eq!(desk.tickets(Default::default()).await, []);
    let mut tx = desk.world.store.read().await.expect("read");
    assert_eq!(tx.stuck_handoffs().count().await.expect("count"), 0, "it is forgotten");
}

async fn a_closed_window_closes_the_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let reply = ReplyToContact::text("hi");
    desk.desk.reply(desk.by(&eva), &ticket.id, reply, None).await.expect("sent");
    let history = desk.world.history(&ticket.chat_id).await;
    let of_flow =
        history.iter().find(|message| message.sender == Some(Sender::FLOW)).expect("one").id.clone();
    let of_agent = history.last().expect("one").id.clone();
    let persister = MessagePersister::new(desk.world.store.clone(), desk.world.cx.clone());
    let fails = async |message: &MessageId, code: i64| {
        let status = StatusEvent {
            status: DeliveryStatus::SendFailed,
            internal_id: Some(message.clone()),
            channel_message_id: None,
            session_id: None,
            phone_number_id: None,
            error: Some(StatusError { code, title: None }),
            timestamp: desk.world.cx.now(),
        };
        persister.apply(&[&status]).await.expect("applied");
        desk.take().await;
        desk.ticket(&ticket).await.close_kind
    };
    assert_eq!(fails(&of_agent, 131_000).await, None, "another error");
    assert_eq!(fails(&of_flow, 131_047).await, None, "a message of the flow");
    for _ in 0..2 {
        assert_eq!(fails(&of_agent, 131_026).await, Some(CloseKind::MetaWindowExpired));
    }
    assert_eq!(desk.go_on().await, ["Bye meta_window_expired"]);
}

async fn a_forgotten_session_gets_its_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.arrive("ana", "bill").await;
    // Its event is lost.
    assert_eq!(desk.events().await.len(), 1);
    let kept = desk.hand_over("bia", "bill").await.expect("a ticket");
    assert_eq!(desk.intake.take_forgotten(100).await.expect("looked"), 0, "its event may come yet");
    desk.world.clock.advance(FORGOTTEN_AFTER + Duration::from_millis(1));
    for expected in [1, 0] {
        assert_eq!(desk.intake.take_forgotten(100).await.expect("looked"), expected);
    }
    assert_eq!(desk.open_ticket("ana").await.expect("a ticket").status, TicketStatus::Waiting);
    assert_eq!(desk.ticket(&kept).await, kept);
}

async fn messages_of_the_contact_are_noted(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.world.clock.advance(Duration::from_secs(7));
    desk.world.say("ana", "ana-more", "hello?").await;
    let events = desk.events().await;
    for _ in 0..2 {
        desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    }
    let after = desk.ticket(&ticket).await;
    assert_eq!(after.contact_wrote_at, desk.world.cx.now());
    assert!(after.contact_wrote_at > ticket.contact_wrote_at);
}
