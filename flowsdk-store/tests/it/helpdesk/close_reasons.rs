//! The reasons of which people choose one when they close a ticket.

use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::id::TicketId;
use flowsdk_core::idempotency::Outcome;
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_helpdesk::close_reason::{CloseReason, CloseReasonChange, CloseReasons, NewCloseReason};
use flowsdk_helpdesk::desk::CloseTicket;
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::ticket::{Ticket, TicketError, TicketStatus};
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    a_reason_is_the_key_of_an_active_close_reason,
    many_tickets_are_closed_with_the_reasons_of_their_routers,
}

fn because(reason: &str) -> CloseTicket {
    CloseTicket { reason: Some(reason.to_owned()), ..CloseTicket::default() }
}

fn reasons(desk: &Helpdesk) -> CloseReasons<SqlStore> {
    let changes = std::sync::Arc::new(NoChangeLog);
    CloseReasons::new(desk.world.store.clone(), desk.world.cx.clone(), changes)
}

async fn create(desk: &Helpdesk, key: &str, is_active: bool) -> CloseReason {
    let new = json!({ "routerId": "router1", "key": key, "label": "A label", "isActive": is_active });
    let new: NewCloseReason = serde_json::from_value(new).expect("a close reason");
    let made = reasons(desk).create(&Author::default(), Admitted::trusted(new), None).await;
    let Ok(Outcome::Done(made)) = made else { panic!("{made:?}") };
    made
}

async fn set_active(desk: &Helpdesk, reason: &CloseReason, is_active: bool) {
    let change = CloseReasonChange { is_active: Some(is_active), ..CloseReasonChange::default() };
    reasons(desk).change(&Author::default(), Reach::ALL, &reason.id, change).await.expect("changed");
}

async fn a_reason_is_the_key_of_an_active_close_reason(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let assigned = async |visitor: &str| -> Ticket {
        desk.hand_over(visitor, "bill").await.expect("a ticket");
        desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket")
    };
    let close = async |ticket: &Ticket, command: CloseTicket| {
        desk.desk.close(desk.by(&eva), &ticket.id, command).await
    };
    // Without an active close reason any text is taken.
    let solved = create(&desk, "solved", false).await;
    let closed = close(&assigned("ana").await, because("In my words")).await.expect("closed");
    assert_eq!(closed.close_reason.as_deref(), Some("In my words"));
    assert_eq!(desk.go_on().await, ["Bye In my words"]);
    // With one, only its key is.
    create(&desk, "spam", true).await;
    let ticket = assigned("bia").await;
    for unknown in ["solved", "In my words", "SPAM", "spam "] {
        let refused = close(&ticket, because(unknown)).await;
        assert!(matches!(refused, Err(TicketError::CloseReasonUnknown)), "{unknown}: {refused:?}");
        assert_eq!(desk.ticket(&ticket).await, ticket, "it stays as it is");
    }
    assert_eq!(desk.go_on().await, [""; 0]);
    set_active(&desk, &solved, true).await;
    let closed = close(&ticket, because("solved")).await.expect("closed");
    assert_eq!((closed.status, closed.close_reason.as_deref()), (TicketStatus::Closed, Some("solved")));
    assert_eq!(desk.go_on().await, ["Bye solved"]);
    // A reason that is deleted stays with its tickets.
    reasons(&desk).delete(&Author::default(), Reach::ALL, &solved.id).await.expect("deleted");
    assert_eq!(desk.ticket(&closed).await, closed);
    let ticket = assigned("caio").await;
    assert!(matches!(close(&ticket, because("solved")).await, Err(TicketError::CloseReasonUnknown)));
    // Nobody has to give a reason.
    let closed = close(&ticket, CloseTicket::default()).await.expect("closed");
    assert_eq!(closed.close_reason, None);
}

async fn many_tickets_are_closed_with_the_reasons_of_their_routers(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    create(&desk, "solved", true).await;
    for visitor in ["ana", "bia"] {
        desk.hand_over(visitor, "bill").await.expect("a ticket");
    }
    let mut ids: Vec<TicketId> = Vec::new();
    for _ in 0..2 {
        let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
        ids.push(ticket.id);
    }
    ids.insert(1, "nothing".parse().expect("an id"));
    let close = async |reason: &str| {
        let outcomes = desk.desk.close_many(desk.by(&eva), ids.clone(), &because(reason)).await;
        let outcomes = outcomes.expect("an outcome of each");
        assert_eq!(outcomes.iter().map(|(id, _)| id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
        outcomes.into_iter().map(|(_, outcome)| outcome).collect::<Vec<_>>()
    };
    let refused = close("spam").await;
    let [
        Err(TicketError::CloseReasonUnknown),
        Err(TicketError::NotFound),
        Err(TicketError::CloseReasonUnknown),
    ] = &*refused
    else {
        panic!("{refused:?}")
    };
    let closed = close("solved").await;
    let [Ok(first), Err(TicketError::NotFound), Ok(second)] = &*closed else { panic!("{closed:?}") };
    for ticket in [first, second] {
        assert_eq!((ticket.status, ticket.close_reason.as_deref()), (TicketStatus::Closed, Some("solved")));
    }
    let again = close("solved").await;
    assert!(matches!(&*again, [Err(TicketError::Closed), _, Err(TicketError::Closed)]), "{again:?}");
}
