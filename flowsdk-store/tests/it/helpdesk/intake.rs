//! Handoffs become tickets (spec B 3.2, 4.7).

use std::time::Duration;

use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::event::{DeliveryStatus, HelpdeskEvent, StatusEvent};
use flowsdk_core::id::{MessageId, UserId};
use flowsdk_core::message::{Sender, StatusError, WINDOW_CODES};
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::session::{HasSessions as _, Mode};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::desk::ReplyToContact;
use flowsdk_helpdesk::intake::{FORGOTTEN_AFTER, HasStuckHandoffs as _, StuckHandoff};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::rule::DistributionRule;
use flowsdk_helpdesk::ticket::{CloseKind, OpenReason, OpenedByKind, Ticket, TicketStatus};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::desk::{Helpdesk, holder, queue_of};
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    a_handoff_becomes_a_waiting_ticket,
    a_handoff_that_comes_again_makes_no_second_ticket,
    a_preset_user_gets_the_ticket_at_once,
    another_handoff_of_the_chat_takes_the_place_of_the_one_before,
    a_handoff_of_another_session_lets_the_one_before_go_on,
    rules_send_handoffs_to_their_queues,
    a_handoff_without_a_queue_waits_until_there_is_one,
    a_session_that_has_moved_on_gets_no_ticket,
    messages_of_the_contact_are_noted,
    a_closed_window_closes_the_ticket,
    other_codes_can_say_that_a_window_is_closed,
    a_forgotten_session_gets_its_ticket,
}

async fn a_handoff_becomes_a_waiting_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!((ticket.status, queue_of(&ticket), holder(&ticket)), (TicketStatus::Waiting, "q1", None));
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
    let eva = desk.add_agent("eva", &["q1"]).await;
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
    assert_eq!(desk.heard(&eva).await, ["ticket:assigned"]);
}

async fn another_handoff_of_the_chat_takes_the_place_of_the_one_before(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let (eva, ivo) = (desk.add_agent("eva", &["q1"]).await, desk.add_agent("ivo", &["q1"]).await);
    for (visitor, user) in [("ana", None), ("bia", Some(&ivo))] {
        let first = desk.hand_over(visitor, "bill").await.expect("a ticket");
        desk.desk.assign(desk.by(&eva), &first.id, Some(&eva)).await.expect("assigned");
        let mut event = desk.hands_over_again(visitor).await;
        event.preset_user_id = user.cloned();
        desk.intake.take(&[&HelpdeskEvent::Handoff(event)]).await.expect("taken");
        let [before, after] = &desk.chain(visitor).await[..] else { panic!("two tickets") };
        assert_eq!((&before.id, before.close_kind), (&first.id, Some(CloseKind::HandoffReplaced)));
        let status = if user.is_some() { TicketStatus::Assigned } else { TicketStatus::Waiting };
        assert_eq!((after.status, after.assigned_user_id.as_ref()), (status, user));
        assert_eq!(after.previous_ticket_id.as_ref(), Some(&first.id));
        // The hand-back of the one before does nothing to the session, which has another owner by now.
        assert_eq!(desk.go_on().await, [""; 0]);
        assert_eq!(desk.session(visitor).await.mode, Mode::Human);
    }
    assert_eq!(desk.heard(&eva).await, ["ticket:assigned", "ticket:closed"].repeat(2));
    assert_eq!(desk.heard(&ivo).await, ["ticket:assigned"]);
}

/// A visitor has another session in the same chat where the page gives another context.
async fn a_handoff_of_another_session_lets_the_one_before_go_on(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let other = "ana-ctx0123456789abcdef";
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    let second = desk.hand_over(other, "order").await.expect("a ticket");
    assert_eq!((&second.chat_id, second.previous_ticket_id.as_ref()), (&first.chat_id, Some(&first.id)));
    assert_eq!(desk.ticket(&first).await.close_kind, Some(CloseKind::HandoffReplaced));
    assert_eq!(desk.go_on().await, ["Bye handoff_replaced"]);
    assert_eq!(desk.session("ana").await.mode, Mode::Flow);
    assert_eq!(desk.session(other).await.mode, Mode::Human);
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
        assert_eq!(queue_of(&ticket), queue, "{subject}");
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
    assert_eq!((ticket.status, queue_of(&ticket)), (TicketStatus::Waiting, "q1"));
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

/// Reports that a message has failed with this code. Returns how the ticket was closed, if it was.
async fn fails(
    desk: &Helpdesk,
    persister: &MessagePersister<SqlStore>,
    (ticket, message): (&Ticket, &MessageId),
    code: i64,
) -> Option<CloseKind> {
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
    desk.ticket(ticket).await.close_kind
}

/// Lets an agent pick up the ticket of a visitor and answer. Returns the ticket and the message.
async fn answered(desk: &Helpdesk, visitor: &str, agent: &UserId) -> (Ticket, MessageId) {
    let ticket = desk.hand_over(visitor, "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(agent), agent).await.expect("picked up");
    let reply = ReplyToContact::text("hi");
    desk.desk.reply(desk.by(agent), &ticket.id, reply, None).await.expect("sent");
    let of_agent = desk.world.history(&ticket.chat_id).await.last().expect("one").id.clone();
    (ticket, of_agent)
}

async fn a_closed_window_closes_the_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let persister = MessagePersister::new(desk.world.store.clone(), desk.world.cx.clone());
    for (visitor, code) in [("ana", 131_026), ("bia", 131_047)] {
        let (ticket, of_agent) = answered(&desk, visitor, &eva).await;
        let history = desk.world.history(&ticket.chat_id).await;
        let of_flow = &history.iter().find(|message| message.sender == Some(Sender::FLOW)).expect("one").id;
        let fails =
            async |message: &MessageId, code: i64| fails(&desk, &persister, (&ticket, message), code).await;
        assert_eq!(fails(&of_agent, 131_000).await, None, "another error");
        assert_eq!(fails(of_flow, code).await, None, "a message of the flow");
        for _ in 0..2 {
            assert_eq!(fails(&of_agent, code).await, Some(CloseKind::MetaWindowExpired));
        }
        assert_eq!(desk.go_on().await, ["Bye meta_window_expired"]);
    }
    // How far the message came is told before its ticket ends for it.
    let told = ["ticket:assigned", "ticket:message-status", "ticket:window_expired"];
    assert_eq!(desk.heard(&eva).await, told.repeat(2));
}

async fn other_codes_can_say_that_a_window_is_closed(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let persister = MessagePersister::new(desk.world.store.clone(), desk.world.cx.clone());
    let persister = persister.with_window_codes(vec![470, 480]);
    for (visitor, code) in [("ana", 470), ("bia", 480)] {
        let (ticket, message) = answered(&desk, visitor, &eva).await;
        for usual in WINDOW_CODES.iter().copied() {
            assert_eq!(fails(&desk, &persister, (&ticket, &message), usual).await, None, "{usual}");
        }
        let closed = fails(&desk, &persister, (&ticket, &message), code).await;
        assert_eq!(closed, Some(CloseKind::MetaWindowExpired), "{code}");
        assert_eq!(desk.go_on().await, ["Bye meta_window_expired"]);
    }
    // Without any code a failure says nothing of the window.
    let persister = persister.with_window_codes(Vec::new());
    let (ticket, message) = answered(&desk, "caio", &eva).await;
    for code in WINDOW_CODES.iter().copied().chain([470]) {
        assert_eq!(fails(&desk, &persister, (&ticket, &message), code).await, None, "{code}");
    }
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
