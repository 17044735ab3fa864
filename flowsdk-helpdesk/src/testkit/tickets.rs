//! Tickets.

use std::time::Duration;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::testkit::store::StoreUnderTest;

use super::{HelpdeskTx, World, ids, later, queue, queue_id};
use crate::ticket::{
    CloseKind, Closing, HasTickets as _, ServiceClock, ServiceClocks, Ticket, TicketFilter, TicketStatus,
};

fn user(id: &str) -> UserId {
    id.parse().expect("an id")
}

/// A ticket comes back as it was saved, locked and not, alone and with others.
pub async fn a_ticket_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let mut ticket = world.ticket(&mut tx, "t1", "q1", 0).await;
    tx.tickets().insert_many(std::slice::from_ref(&ticket)).await.expect("insert");
    let mut states = vec![ticket.clone()];
    let clock = ServiceClock::new(later(8), later(9));
    ticket.start_service(Some(ServiceClocks { first_response: Some(clock), resolution: Some(clock) }));
    ticket.offer(user("bia"), later(2), later(1)).expect("waiting");
    states.push(ticket.clone());
    ticket.pass(later(2)).expect("offered");
    states.push(ticket.clone());
    ticket.assign(user("ana"), later(3)).expect("open");
    states.push(ticket.clone());
    let closing = Closing {
        by: Some(user("bia")),
        reason: Some("Resolvido 👋".to_owned()),
        ..Closing::by_system(CloseKind::Resolved)
    };
    ticket.close(&closing, later(5)).expect("open");
    (ticket.summary, ticket.contact_wrote_at) = (Some("Uma fatura".to_owned()), later(4));
    ticket.queue_id = Some(queue_id("q2"));
    ticket.tag_ids = vec!["tag1".parse().expect("an id"), "tag2".parse().expect("an id")];
    ticket.first_replied_at = Some(later(4));
    states.push(ticket.clone());
    let survey = queue("q1", &world.router, "q1", later(0)).survey.expect("a survey");
    ticket.ask(survey, None, later(6));
    states.push(ticket.clone());
    ticket.read_answer("m1".to_owned(), "5", later(7));
    states.push(ticket.clone());
    ticket.end_survey(later(8));
    states.push(ticket);
    for state in &states {
        tx.tickets().save_many(std::slice::from_ref(state)).await.expect("save");
        assert_eq!(tx.tickets().find(&state.id).await.expect("find").as_ref(), Some(state));
        assert_eq!(tx.tickets().find_for_update(&state.id).await.expect("find").as_ref(), Some(state));
    }
    assert_eq!(tx.tickets().find(&"t2".parse().expect("an id")).await.expect("find"), None);
    let mut others = Vec::new();
    for (at, state) in (0_u64..).zip(&states) {
        let id = format!("other{at}");
        let other = world.ticket(&mut tx, &id, "q1", at).await;
        tx.tickets().insert_many(std::slice::from_ref(&other)).await.expect("insert");
        // What never changes stays that of the other one.
        let (chat, contact, session) = (other.chat_id, other.contact_id, other.session_id);
        let created_at = other.created_at;
        others.push(Ticket {
            id: other.id,
            chat_id: chat,
            contact_id: contact,
            session_id: session,
            created_at,
            ..state.clone()
        });
    }
    tx.tickets().save_many(&others).await.expect("save");
    for other in &others {
        assert_eq!(tx.tickets().find(&other.id).await.expect("find").as_ref(), Some(other), "saved together");
    }
}

/// A second open ticket of a chat is refused, and a second one of a handoff, whether or not the first is open.
pub async fn a_chat_has_one_open_ticket_and_a_handoff_one_in_all<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let mut first = world.ticket(&mut tx, "t1", "q1", 0).await;
    tx.tickets().insert_many(std::slice::from_ref(&first)).await.expect("insert");
    tx.commit().await.expect("commit");
    let again = |epoch| Ticket { id: "t2".parse().expect("an id"), epoch: Some(epoch), ..first.clone() };
    let (same_handoff, same_chat) = (again(7), again(8));
    for refused in [&same_chat, &same_handoff] {
        let mut tx = world.begin().await;
        let outcome = tx.tickets().insert_many(std::slice::from_ref(refused)).await;
        assert!(matches!(outcome, Err(StorageError::Unique { .. })), "{outcome:?}");
    }
    let mut tx = world.begin().await;
    let open = tx.tickets().open_of_chats_for_update(std::slice::from_ref(&first.chat_id)).await;
    assert_eq!(open.expect("open"), [first.clone()]);
    first.close(&Closing::by_system(CloseKind::System), later(1)).expect("open");
    tx.tickets().save_many(std::slice::from_ref(&first)).await.expect("save");
    tx.commit().await.expect("commit");
    let mut tx = world.begin().await;
    let outcome = tx.tickets().insert_many(std::slice::from_ref(&same_handoff)).await;
    assert!(matches!(outcome, Err(StorageError::Unique { .. })), "{outcome:?}");
    drop(tx);
    let mut tx = world.begin().await;
    tx.tickets().insert_many(std::slice::from_ref(&same_chat)).await.expect("the chat has no open one");
    let session = first.session_id.clone().expect("a session");
    let mut known = tx.tickets().known_handoffs(std::slice::from_ref(&session)).await.expect("known");
    known.sort();
    assert_eq!(known, [(session.clone(), 7), (session, 8)]);
}

/// Lists have what each filter asks for, newest first, within reach.
pub async fn tickets_are_found_by_what_is_asked<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let first = world.ticket(&mut tx, "t1", "q1", 0).await;
    let mut second = world.ticket(&mut tx, "t2", "q1", 1).await;
    let mut third = world.ticket(&mut tx, "t3", "q2", 2).await;
    second.assign(user("ana"), later(3)).expect("open");
    third.assign(user("ana"), later(3)).expect("open");
    third.close(&Closing::by_system(CloseKind::Resolved), later(4)).expect("open");
    tx.tickets().insert_many(&[first.clone(), second.clone(), third.clone()]).await.expect("insert");
    let of = |change: fn(&mut TicketFilter)| {
        let mut filter = TicketFilter::default();
        change(&mut filter);
        filter
    };
    let by_chat = TicketFilter { chat_id: Some(second.chat_id.clone()), ..TicketFilter::default() };
    let (mine, elsewhere) = ([world.router.clone()], ["elsewhere".parse().expect("an id")]);
    let page = PageRequest::default();
    for (filter, expected) in [
        (of(|_| {}), vec!["t3", "t2", "t1"]),
        (of(|filter| filter.status = Some(TicketStatus::Waiting)), vec!["t1"]),
        (of(|filter| filter.queue_id = Some(queue_id("q1"))), vec!["t2", "t1"]),
        (of(|filter| filter.assigned_user_id = Some(user("ana"))), vec!["t3", "t2"]),
        (
            of(|filter| {
                filter.assigned_user_id = Some(user("ana"));
                filter.status = Some(TicketStatus::Assigned);
            }),
            vec!["t2"],
        ),
        (by_chat, vec!["t2"]),
    ] {
        for only in [None, Some(&mine[..])] {
            let found = tx.tickets().list(&filter, only, &page).await.expect("list").items;
            assert_eq!(ids(&found), expected, "{filter:?}");
        }
        assert_eq!(tx.tickets().list(&filter, Some(&elsewhere), &page).await.expect("list").items, []);
    }
    assert_eq!(tx.tickets().count_open_in(&queue_id("q1")).await.expect("count"), 2);
    assert_eq!(ids(&tx.tickets().open_in_for_update(&queue_id("q1")).await.expect("open")), ["t1", "t2"]);
    let agents = ["ana", "bia"].map(|name| (world.router.clone(), user(name)));
    let mut loads = tx.tickets().loads(&agents).await.expect("loads");
    loads.sort();
    assert_eq!(loads, [("ana", 1), ("bia", 0)].map(|(name, open)| (world.router.clone(), user(name), open)));
    let loads = tx.tickets().loads_of(&user("ana")).await.expect("loads");
    assert_eq!(loads, [(world.router.clone(), 1)]);
}

/// The oldest tickets that wait are claimed, and those of silent contacts.
pub async fn waiting_tickets_are_claimed_oldest_first<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let mut tickets = Vec::new();
    for (id, queue, at) in [("t1", "q1", 30), ("t2", "q2", 10), ("t3", "q1", 20), ("t4", "q1", 5)] {
        tickets.push(world.ticket(&mut tx, id, queue, at).await);
    }
    tickets[3].assign(user("ana"), later(6)).expect("open");
    tx.tickets().insert_many(&tickets).await.expect("insert");
    let (q1, q2) = (queue_id("q1"), queue_id("q2"));
    let most = |first, second| [(q1.clone(), first), (q2.clone(), second)];
    for (queues, expected) in [
        (&most(5, 5)[..1], &["t3", "t1"][..]),
        (&most(5, 5), &["t3", "t1", "t2"]),
        (&most(1, 1), &["t3", "t2"]),
    ] {
        assert_eq!(ids(&tx.tickets().claim_waiting(queues).await.expect("claim")), expected);
    }
    let mut waiting = tx.tickets().waiting_in(&[q1.clone(), q2.clone()]).await.expect("waiting");
    waiting.sort();
    assert_eq!(waiting, [(q1.clone(), 2, later(20)), (q2.clone(), 1, later(10))]);
    assert_eq!(tx.tickets().queues_to_distribute().await.expect("queues"), [q1.clone(), q2]);
    // A contact writes, and is silent for seven minutes.
    let wrote = [(tickets[2].session_id.clone().expect("a session"), later(25))];
    assert_eq!(tx.tickets().note_contact(&wrote).await.expect("noted"), [], "nobody has it");
    let wrote = [(tickets[3].session_id.clone().expect("a session"), later(25))];
    let held = tx.tickets().note_contact(&wrote).await.expect("noted");
    assert_eq!(held, [(wrote[0].0.clone(), tickets[3].id.clone(), user("ana"))]);
    let at = |millis: u64| later(millis) + Duration::from_mins(7);
    for (now, expected) in
        [(at(9), vec![]), (at(10), vec!["t2"]), (at(25), vec!["t2", "t3"]), (at(30), vec!["t1", "t2", "t3"])]
    {
        assert_eq!(ids(&tx.tickets().claim_abandoned(now, 9).await.expect("claim")), expected);
    }
    // No session is there.
    assert_eq!(ids(&tx.tickets().claim_lost(later(0), 9).await.expect("claim")), ["t1", "t2", "t3", "t4"]);
}
