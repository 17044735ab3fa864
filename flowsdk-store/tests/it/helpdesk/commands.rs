//! What people do with tickets (spec B 3.2, 4.7; rulings D5, S14).

use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::id::MessageId;
use flowsdk_core::message::{Direction, SenderKind, Source};
use flowsdk_core::router::Reach;
use flowsdk_core::session::{HasSessions as _, Mode, SessionWrite};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::agent::{HasPresence as _, PRESENCE_LIFETIME, PresenceStatus};
use flowsdk_helpdesk::desk::{By, CloseTicket, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::queue::QueueError;
use flowsdk_helpdesk::ticket::{
    CloseKind, HasTickets as _, OpenReason, Ticket, TicketError, TicketFilter, TicketStatus,
};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::desk::{Helpdesk, holder, queue_of};
use crate::support::databases::on_every_database;

on_every_database! {
    the_oldest_ticket_of_the_own_queues_is_picked_up,
    a_full_queue_is_passed_over,
    a_ticket_is_picked_up_from_the_queue_that_is_named,
    a_ticket_is_assigned_to_an_agent_of_its_queue,
    a_ticket_is_assigned_to_whom_its_queue_chooses,
    an_answer_is_sent_by_whoever_has_the_ticket,
    an_answer_to_what_was_not_seen_is_refused,
    nobody_answers_when_the_session_has_moved_on,
    a_closed_ticket_gives_the_session_back,
    a_ticket_without_a_session_closes_without_a_flow,
    a_ticket_is_transferred_to_a_user_and_to_a_queue,
    tickets_of_other_routers_are_not_there,
    a_queue_with_tickets_is_deleted_by_force_only,
    whoever_is_refused_leaves_nothing_locked,
}

fn reply(text: &str) -> ReplyToContact {
    ReplyToContact::text(text)
}

async fn the_oldest_ticket_of_the_own_queues_is_picked_up(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    for queue in ["q1", "q2", "q3"] {
        desk.add_queue(queue, ManualPickup).await;
    }
    let eva = desk.add_agent("eva", &["q1", "q2"]).await;
    let pick_up = async || desk.desk.pick_up(desk.by(&eva), &eva).await;
    assert_eq!(pick_up().await.expect("nothing"), None);
    for (visitor, queue) in [("v1", "q3"), ("v2", "q2"), ("v3", "q1"), ("v4", "q2"), ("v5", "q2")] {
        desk.hand_over_to(visitor, queue).await.expect("a ticket");
        desk.world.clock.advance(std::time::Duration::from_secs(1));
    }
    let mut picked = Vec::new();
    for _ in 0..3 {
        let ticket = pick_up().await.expect("picked up").expect("a ticket");
        assert_eq!(holder(&ticket), Some("eva"));
        picked.push(ticket.session_id.expect("a session").party().to_owned());
    }
    assert_eq!(picked, ["v2", "v3", "v4"]);
    assert!(matches!(pick_up().await, Err(TicketError::LimitReached)));
}

/// The tickets of all queues of the router count against the limit of each.
async fn a_full_queue_is_passed_over(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    for queue in ["q1", "q2"] {
        desk.add_queue(queue, ManualPickup).await;
    }
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    desk.change_queue("q2", |queue| queue.max_concurrent_tickets_per_agent = 2).await;
    let eva = desk.add_agent("eva", &["q1", "q2"]).await;
    let mut waiting = Vec::new();
    for (visitor, queue) in [("v1", "q1"), ("v2", "q1"), ("v3", "q2"), ("v4", "q2")] {
        waiting.push(desk.hand_over_to(visitor, queue).await.expect("a ticket"));
        desk.world.clock.advance(std::time::Duration::from_secs(1));
    }
    let pick_up = async || desk.desk.pick_up(desk.by(&eva), &eva).await;
    for expected in [&waiting[0], &waiting[2]] {
        let ticket = pick_up().await.expect("picked up").expect("a ticket");
        assert_eq!(ticket.id, expected.id);
    }
    assert!(matches!(pick_up().await, Err(TicketError::LimitReached)));
    for ticket in [&waiting[0], &waiting[2]] {
        desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    }
    let ticket = pick_up().await.expect("picked up").expect("a ticket");
    assert_eq!(ticket.id, waiting[1].id, "there is room again");
    desk.change_queue("q2", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    assert!(matches!(pick_up().await, Err(TicketError::LimitReached)));
}

async fn a_ticket_is_picked_up_from_the_queue_that_is_named(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    for queue in ["q1", "q2", "q3"] {
        desk.add_queue(queue, ManualPickup).await;
    }
    desk.change_queue("q2", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    let eva = desk.add_agent("eva", &["q1", "q2"]).await;
    let mut waiting = Vec::new();
    for (visitor, queue) in [("v1", "q1"), ("v2", "q2"), ("v3", "q2"), ("v4", "q3")] {
        waiting.push(desk.hand_over_to(visitor, queue).await.expect("a ticket"));
        desk.world.clock.advance(std::time::Duration::from_secs(1));
    }
    let from = async |queue: &str| {
        desk.desk.pick_up_from(desk.by(&eva), &eva, Some(&queue.parse().expect("an id"))).await
    };
    let ticket = from("q2").await.expect("picked up").expect("a ticket");
    assert_eq!(ticket.id, waiting[1].id, "an older one waits in another queue");
    assert!(matches!(from("q2").await, Err(TicketError::LimitReached)));
    let ticket = from("q1").await.expect("picked up").expect("a ticket");
    assert_eq!(ticket.id, waiting[0].id);
    assert_eq!(from("q1").await.expect("picked up"), None, "what waits elsewhere is not taken");
    for foreign in ["q3", "nothing"] {
        assert!(matches!(from(foreign).await, Err(TicketError::AgentNotInQueue)), "{foreign}");
    }
}

async fn a_ticket_is_assigned_to_an_agent_of_its_queue(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.add_queue("q2", LeastLoaded).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ivo = desk.add_agent("ivo", &["q2"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let assign = async |ticket: &Ticket, to| desk.desk.assign(desk.by(&eva), &ticket.id, to).await;
    assert_eq!(assign(&ticket, None).await.expect("nobody is there").status, TicketStatus::Waiting);
    assert!(matches!(assign(&ticket, Some(&ivo)).await, Err(TicketError::AgentNotInQueue)));
    for _ in 0..2 {
        // Once more to the same one changes nothing.
        let assigned = assign(&ticket, Some(&eva)).await.expect("assigned");
        assert_eq!((assigned.status, holder(&assigned)), (TicketStatus::Assigned, Some("eva")));
    }
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    let leo = desk.add_agent("leo", &["q1"]).await;
    assert!(matches!(assign(&ticket, Some(&leo)).await, Err(TicketError::AssignedToAnother)));
    let second = desk.hand_over("bia", "bill").await.expect("a ticket");
    assert!(matches!(assign(&second, Some(&eva)).await, Err(TicketError::LimitReached)));
    desk.online("leo").await;
    let second = desk.ticket(&second).await;
    assert_eq!(holder(&second), Some("leo"));
    desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    assert!(matches!(assign(&ticket, Some(&leo)).await, Err(TicketError::Closed)));
    assert!(matches!(assign(&ticket, None).await, Err(TicketError::Closed)));
}

async fn a_ticket_is_assigned_to_whom_its_queue_chooses(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.add_queue("q2", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1", "q2"]).await;
    for agent in ["ivo", "leo"] {
        desk.add_agent(agent, &["q1", "q2"]).await;
    }
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    let assign = async |ticket: &Ticket| desk.desk.assign(desk.by(&eva), &ticket.id, None).await;
    // Not by the service, which would give out what waits.
    let mut tx = desk.world.store.begin().await.expect("begin");
    let until = desk.world.cx.now() + PRESENCE_LIFETIME;
    for (agent, status) in [("eva", PresenceStatus::Busy), ("ivo", PresenceStatus::Online)] {
        tx.presence().set(&agent.parse().expect("an id"), status, until).await.expect("set");
    }
    tx.commit().await.expect("commit");
    let assigned = assign(&first).await.expect("assigned");
    assert_eq!((assigned.status, holder(&assigned)), (TicketStatus::Assigned, Some("ivo")));
    assert_eq!(desk.heard(&"ivo".parse().expect("an id")).await, ["ticket:assigned"]);
    assert!(matches!(assign(&first).await, Err(TicketError::AssignedToAnother)));
    // Nobody beyond their limit, and of a queue for pickup nobody at all.
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    let second = desk.hand_over("bia", "bill").await.expect("a ticket");
    assert_eq!(assign(&second).await.expect("nobody has room").status, TicketStatus::Waiting);
    let to_pickup = TransferTicket { to_user_id: None, to_queue_id: "q2".parse().ok() };
    let third = desk.desk.transfer(desk.by(&eva), &second.id, to_pickup).await.expect("transferred");
    assert_eq!(assign(&third).await.expect("nobody is chosen").status, TicketStatus::Waiting);
}

async fn an_answer_is_sent_by_whoever_has_the_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ivo = desk.add_agent("ivo", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let say = async |user, text: &str| desk.desk.reply(desk.by(user), &ticket.id, reply(text), None).await;
    assert!(matches!(say(&eva, "hi").await, Err(TicketError::Waiting)));
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    assert!(matches!(say(&ivo, "hi").await, Err(TicketError::AssignedToAnother)));
    assert!(matches!(say(&eva, &"x".repeat(4_097)).await, Err(TicketError::TooLong { most: 4_096 })));
    desk.world.sink.0.lock().expect("a lock").clear();
    say(&eva, "How can I help?").await.expect("sent");
    let sent = desk.world.sink.0.lock().expect("a lock").clone();
    assert_eq!(sent.len(), 1, "handed over once");
    assert_eq!((sent[0].sender.kind, sent[0].sender.name.as_deref()), (SenderKind::Human, Some("EVA")));
    assert_eq!((sent[0].source, sent[0].epoch), (Source::Agent, desk.session("ana").await.epoch));
    let history = desk.world.history(&ticket.chat_id).await;
    let last = history.last().expect("a message");
    assert_eq!((last.direction, Some(last.seq)), (Direction::Out, sent[0].seq));
    assert_eq!(desk.world.transcript(&ticket.chat_id).await.last().expect("a line"), "< How can I help?");
    desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    assert!(matches!(say(&eva, "one more").await, Err(TicketError::Closed)));
    let machine = By { user: None, ..desk.by(&eva) };
    let refused = desk.desk.reply(machine, &ticket.id, reply("beep"), None).await;
    assert!(matches!(refused, Err(TicketError::AssignedToAnother)), "an API client has no tickets");
}

async fn an_answer_to_what_was_not_seen_is_refused(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let other = desk.hand_over("bia", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let newest =
        async |ticket: &Ticket| desk.world.history(&ticket.chat_id).await.pop().expect("a message").id;
    let say = async |seen: &MessageId| {
        let reply = ReplyToContact { last_seen_message_id: Some(seen.clone()), ..reply("hi") };
        desk.desk.reply(desk.by(&eva), &ticket.id, reply, None).await
    };
    let before = newest(&ticket).await;
    say(&before).await.expect("sent");
    say(&before).await.expect("an answer of the agent is none of the contact");
    let own = newest(&ticket).await;
    desk.world.say("ana", "ana-more", "one thing more").await;
    let lines = desk.world.transcript(&ticket.chat_id).await;
    for seen in [&before, &own] {
        assert!(matches!(say(seen).await, Err(TicketError::MessagesUnseen)));
    }
    for foreign in [newest(&other).await, "nothing".parse().expect("an id")] {
        assert!(matches!(say(&foreign).await, Err(TicketError::MessageUnknown)));
    }
    assert_eq!(desk.world.transcript(&ticket.chat_id).await, lines, "nothing is stored");
    say(&newest(&ticket).await).await.expect("sent");
}

async fn nobody_answers_when_the_session_has_moved_on(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let mut session = desk.session("ana").await;
    let version = session.version;
    session.version += 1;
    session.give_to(Mode::Flow);
    let mut tx = desk.world.store.begin().await.expect("begin");
    let write = SessionWrite { session: &session, expected: Some(version) };
    tx.sessions().save_many(&[write]).await.expect("saved");
    tx.commit().await.expect("commit");
    let lines = desk.world.transcript(&ticket.chat_id).await;
    let refused = desk.desk.reply(desk.by(&eva), &ticket.id, reply("hi"), None).await;
    assert!(matches!(refused, Err(TicketError::MovedOn)));
    assert_eq!(desk.world.transcript(&ticket.chat_id).await, lines, "nothing is stored");
    assert_eq!(desk.sweep.tick().await.expect("swept"), 1);
    assert_eq!(desk.ticket(&ticket).await.close_kind, Some(CloseKind::System));
}

async fn a_closed_ticket_gives_the_session_back(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let close = async |command: CloseTicket| desk.desk.close(desk.by(&eva), &ticket.id, command).await;
    assert!(matches!(close(CloseTicket::default()).await, Err(TicketError::Waiting)));
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let at = |flow: &str, block: &str| CloseTicket {
        jump_target: serde_json::from_value(json!({ "flowId": flow, "blockId": block })).expect("a target"),
        ..CloseTicket::default()
    };
    for (flow, block) in [("attended", "nowhere"), ("nowhere", "ask")] {
        assert!(matches!(close(at(flow, block)).await, Err(TicketError::BlockNotFound)), "{flow} {block}");
    }
    let solved = CloseTicket { reason: Some("solved".to_owned()), ..CloseTicket::default() };
    let closed = close(solved).await.expect("closed");
    assert_eq!((closed.status, closed.close_kind), (TicketStatus::Closed, Some(CloseKind::Resolved)));
    assert_eq!(
        (closed.closed_by_user_id.as_ref(), closed.close_reason.as_deref()),
        (Some(&eva), Some("solved"))
    );
    assert!(matches!(close(CloseTicket::default()).await, Err(TicketError::Closed)));
    let summaries = desk.world.published(TopicName::Summary).await;
    assert_eq!((summaries.len(), &summaries[0]["ticketId"]), (1, &json!(ticket.id)));
    assert_eq!(desk.go_on().await, ["Bye solved"]);
    let session = desk.session("ana").await;
    assert_eq!((session.mode, session.helpdesk), (Mode::Flow, None));
    // Another time, to a block of its own.
    desk.world.say("ana", "again1", "again").await;
    desk.world.say("ana", "again2", "bill").await;
    desk.take().await;
    let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    desk.desk.close(desk.by(&eva), &ticket.id, at("attended", "elsewhere")).await.expect("closed");
    assert_eq!(desk.go_on().await, ["Elsewhere", "Ask"]);
}

/// As those of before tickets knew their sessions.
async fn a_ticket_without_a_session_closes_without_a_flow(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    let queue = desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let contact = desk.world.add_visitor("ana").await;
    let mut tx = desk.world.store.begin().await.expect("begin");
    let chat = Chat::open(&desk.world.cx, contact.id.clone(), queue.router_id.clone());
    let chat = tx.chats().open_or_get_many(&[chat]).await.expect("a chat").remove(0);
    let (of, now) = ((chat.id, contact.id), desk.world.cx.now());
    let ticket = Ticket::opened("legacy".parse().expect("an id"), queue.router_id, of, queue.id, now);
    tx.tickets().insert_many(std::slice::from_ref(&ticket)).await.expect("a ticket");
    tx.commit().await.expect("commit");
    assert_eq!(desk.sweep.tick().await.expect("swept"), 0, "no session of it is gone");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    let refused = desk.desk.reply(desk.by(&eva), &ticket.id, reply("hi"), None).await;
    assert!(matches!(refused, Err(TicketError::MovedOn)), "{refused:?}");
    let closed = desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
    assert_eq!(closed.close_kind, Some(CloseKind::Resolved));
    assert_eq!(desk.world.published(TopicName::Summary).await.len(), 1);
    assert_eq!(desk.world.published(TopicName::Flow).await, [json!(null); 0]);
}

async fn a_ticket_is_transferred_to_a_user_and_to_a_queue(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.add_queue("q2", LeastLoaded).await;
    desk.add_queue("off", LeastLoaded).await;
    desk.change_queue("off", |queue| queue.is_active = false).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ivo = desk.add_agent("ivo", &["q2"]).await;
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let transfer = async |ticket: &Ticket, user: Option<&str>, queue: Option<&str>| {
        let command = TransferTicket {
            to_user_id: user.map(|id| id.parse().expect("an id")),
            to_queue_id: queue.map(|id| id.parse().expect("an id")),
        };
        desk.desk.transfer(desk.by(&eva), &ticket.id, command).await
    };
    for (user, queue) in [(None, None), (Some("ivo"), Some("q2"))] {
        assert!(matches!(transfer(&first, user, queue).await, Err(TicketError::TargetUnclear)));
    }
    assert!(matches!(transfer(&first, Some("nobody"), None).await, Err(TicketError::AgentUnknown)));
    for queue in ["nowhere", "off"] {
        assert!(matches!(transfer(&first, None, Some(queue)).await, Err(TicketError::QueueUnknown)));
    }
    let second = transfer(&first, Some("ivo"), None).await.expect("transferred");
    assert_eq!((second.status, second.open_reason), (TicketStatus::Assigned, OpenReason::AgentTransfer));
    assert_eq!((holder(&second), queue_of(&second)), (Some("ivo"), "q1"));
    assert_eq!(second.opened_by_user_id.as_ref(), Some(&eva));
    assert!(matches!(transfer(&first, Some("ivo"), None).await, Err(TicketError::Closed)));
    let third = transfer(&second, None, Some("q2")).await.expect("transferred");
    assert_eq!((third.status, third.open_reason), (TicketStatus::Waiting, OpenReason::QueueTransfer));
    desk.online("ivo").await;
    let third = desk.ticket(&third).await;
    assert_eq!(holder(&third), Some("ivo"), "the queue gives it out");
    let chain = desk.chain("ana").await;
    let links: Vec<_> = chain.iter().map(|ticket| ticket.previous_ticket_id.clone()).collect();
    assert_eq!(links, [None, Some(first.id.clone()), Some(second.id.clone())]);
    let kinds: Vec<_> = chain.iter().map(|ticket| ticket.close_kind).collect();
    assert_eq!(kinds, [Some(CloseKind::AgentTransfer), Some(CloseKind::QueueTransfer), None]);
    // The conversation stays with people, and the session knows the last ticket.
    assert_eq!(desk.go_on().await, [""; 0]);
    let session = desk.session("ana").await;
    assert_eq!(session.helpdesk.and_then(|state| state.ticket_id).as_ref(), Some(&third.id));
    desk.desk.reply(desk.by(&ivo), &third.id, reply("here"), None).await.expect("sent");
    desk.desk.close(desk.by(&ivo), &third.id, CloseTicket::default()).await.expect("closed");
    assert_eq!(desk.go_on().await, ["Bye resolved"]);
}

async fn tickets_of_other_routers_are_not_there(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let others = ["router2".parse().expect("an id")];
    let reach = Reach::only(&others);
    let by = By { reach, ..desk.by(&eva) };
    let id = &ticket.id;
    let answers = [
        desk.desk.get(reach, id).await.map(drop),
        desk.desk.assign(by, id, None).await.map(drop),
        desk.desk.assign(by, id, Some(&eva)).await.map(drop),
        desk.desk.reply(by, id, reply("x"), None).await.map(drop),
        desk.desk.close(by, id, CloseTicket::default()).await.map(drop),
        desk.desk
            .transfer(by, id, TransferTicket { to_user_id: Some(eva.clone()), to_queue_id: None })
            .await
            .map(drop),
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        assert!(matches!(answer, Err(TicketError::NotFound)), "{at}: {answer:?}");
    }
    assert_eq!(desk.desk.pick_up(by, &eva).await.expect("nothing"), None);
    let page = Default::default();
    let filter = flowsdk_core::router::Admitted::trusted(TicketFilter::default());
    assert_eq!(desk.desk.list(reach, &filter, &page).await.expect("list").items, []);
    assert_eq!(desk.desk.list(Reach::ALL, &filter, &page).await.expect("list").items, [ticket]);
}

async fn a_queue_with_tickets_is_deleted_by_force_only(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let (author, queue) = (flowsdk_core::change::Author::default(), "q1".parse().expect("an id"));
    let (waiting, worked) = (
        desk.hand_over("ana", "bill").await.expect("one"),
        desk.hand_over("bia", "bill").await.expect("one"),
    );
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let refused = desk.queues.delete(&author, Reach::ALL, &queue, false).await;
    let Err(QueueError::InUse(dependants)) = refused else { panic!("{refused:?}") };
    use flowsdk_core::fault::Fault as _;
    assert_eq!(dependants.details()[0].1.english(), "2 open tickets");
    desk.queues.delete(&author, Reach::ALL, &queue, true).await.expect("deleted");
    for ticket in [&waiting, &worked] {
        let ticket = desk.ticket(ticket).await;
        assert_eq!((ticket.close_kind, queue_of(&ticket)), (Some(CloseKind::System), "q1"));
    }
    let mut said = desk.go_on().await;
    said.sort();
    assert_eq!(said, ["Bye system", "Bye system"]);
    // The next handoff waits for a queue.
    assert_eq!(desk.hand_over("caio", "bill").await, None);
}

/// What others have locked is passed over, so a lock that outlives its command hides the ticket.
async fn whoever_is_refused_leaves_nothing_locked(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ivo = desk.add_agent("ivo", &[]).await;
    for at in 0..40 {
        let ticket = desk.hand_over(&format!("v{at}"), "bill").await.expect("a ticket");
        let refused = match at % 4 {
            0 => desk.desk.assign(desk.by(&eva), &ticket.id, Some(&ivo)).await.map(drop),
            1 => desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.map(drop),
            2 => desk.desk.reply(desk.by(&eva), &ticket.id, reply("hi"), None).await.map(drop),
            _ => {
                let nobody =
                    TransferTicket { to_user_id: Some("nobody".parse().expect("an id")), to_queue_id: None };
                desk.desk.transfer(desk.by(&eva), &ticket.id, nobody).await.map(drop)
            }
        };
        assert!(refused.is_err(), "{at}");
        let picked = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
        assert_eq!(picked.expect("it waits").id, ticket.id, "{at}");
        desk.desk.close(desk.by(&eva), &ticket.id, CloseTicket::default()).await.expect("closed");
        desk.go_on().await;
    }
}
