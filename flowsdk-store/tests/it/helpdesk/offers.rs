//! Queues that offer their tickets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::id::UserId;
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::desk::TransferTicket;
use flowsdk_helpdesk::dispatch::Dispatcher;
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup, RoundRobin};
use flowsdk_helpdesk::ticket::{PASSED_FOR, Ticket, TicketError, TicketStatus};
use flowsdk_store::sql::SqlStore;

use super::desk::{Helpdesk, holder};
use crate::support::databases::on_every_database;

on_every_database! {
    an_offer_is_accepted_once,
    a_declined_ticket_goes_to_the_next_agent,
    an_offer_that_is_not_answered_ends,
    an_offer_keeps_a_place_among_the_tickets_of_its_agent,
    a_ticket_on_which_all_have_passed_holds_up_no_other,
    who_is_offered_a_ticket_hears_what_becomes_of_it,
    many_dispatchers_offer_a_ticket_once,
}

const ACCEPT: Duration = Duration::from_secs(30);

impl Helpdesk {
    /// A desk with a queue that offers its tickets, and agents who are online.
    async fn offering(store: SqlStore, agents: &[&str]) -> (Self, Vec<UserId>) {
        let desk = Self::new(store).await;
        desk.add_queue("q1", RoundRobin).await;
        desk.change_queue("q1", |queue| queue.accept_within_seconds = Some(30)).await;
        let mut users = Vec::new();
        for agent in agents {
            users.push(desk.add_agent(agent, &["q1"]).await);
            desk.online(agent).await;
        }
        (desk, users)
    }
}

fn offered(ticket: &Ticket) -> Option<&str> {
    ticket.offered_to().map(UserId::as_str)
}

async fn an_offer_is_accepted_once(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva"]).await;
    let eva = &users[0];
    let leo = desk.add_agent("leo", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let ends_at = ticket.offer_ends_at.expect("an end");
    assert_eq!((ticket.status, offered(&ticket)), (TicketStatus::Waiting, Some("eva")));
    assert_eq!(ends_at, desk.world.cx.now() + ACCEPT);
    let refused = desk.desk.accept(desk.by(&leo), &leo, &ticket.id).await;
    assert!(matches!(refused, Err(TicketError::NotOffered)), "{refused:?}");
    for _ in 0..2 {
        let accepted = desk.desk.accept(desk.by(eva), eva, &ticket.id).await.expect("accepted");
        assert_eq!((holder(&accepted), offered(&accepted)), (Some("eva"), None));
    }
    let refused = desk.desk.accept(desk.by(&leo), &leo, &ticket.id).await;
    assert!(matches!(refused, Err(TicketError::AssignedToAnother)), "{refused:?}");
    let refused = desk.desk.decline(desk.by(eva), eva, &ticket.id).await;
    assert!(matches!(refused, Err(TicketError::NotOffered)), "{refused:?}");
    assert_eq!(desk.heard(eva).await, ["ticket:offered", "ticket:assigned"]);
    desk.world.clock.advance(2 * ACCEPT);
    assert_eq!(desk.sweep.end_offers().await.expect("swept"), 0, "it was answered");
}

async fn a_declined_ticket_goes_to_the_next_agent(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva", "leo"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!(offered(&ticket), Some("eva"));
    let after = desk.desk.decline(desk.by(&users[0]), &users[0], &ticket.id).await.expect("declined");
    assert_eq!(offered(&after), Some("leo"), "at once");
    let after = desk.desk.decline(desk.by(&users[1]), &users[1], &ticket.id).await.expect("declined");
    assert_eq!((after.status, offered(&after)), (TicketStatus::Waiting, None), "both have declined it");
    assert_eq!(desk.heard(&users[0]).await, ["ticket:offered", "ticket:offer-ended"]);
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(offered(&desk.ticket(&ticket).await), None);
    desk.world.clock.advance(PASSED_FOR - Duration::from_millis(1));
    desk.online("eva").await;
    assert_eq!(offered(&desk.ticket(&ticket).await), None, "not before a minute has passed");
    desk.world.clock.advance(Duration::from_millis(1));
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(offered(&desk.ticket(&ticket).await), Some("eva"));
}

async fn an_offer_that_is_not_answered_ends(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva", "leo"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.world.clock.advance(ACCEPT - Duration::from_millis(1));
    assert_eq!(desk.sweep.end_offers().await.expect("swept"), 0);
    desk.world.clock.advance(Duration::from_millis(1));
    assert_eq!(desk.sweep.end_offers().await.expect("swept"), 1);
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(offered(&desk.ticket(&ticket).await), Some("leo"));
    let late = desk.desk.accept(desk.by(&users[0]), &users[0], &ticket.id).await;
    assert!(matches!(late, Err(TicketError::NotOffered)), "{late:?}");
    assert_eq!(desk.heard(&users[0]).await, ["ticket:offered", "ticket:offer-ended"]);
}

async fn an_offer_keeps_a_place_among_the_tickets_of_its_agent(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva"]).await;
    desk.add_queue("q2", LeastLoaded).await;
    let eva = &users[0];
    let mut tickets = Vec::new();
    for visitor in ["ana", "bia", "caio", "davi"] {
        tickets.push(desk.hand_over(visitor, "bill").await.expect("a ticket"));
    }
    let names: Vec<Option<&str>> = tickets.iter().map(offered).collect();
    assert_eq!(names, [Some("eva"), Some("eva"), Some("eva"), None], "no more than her limit");
    let picked = desk.desk.pick_up(desk.by(eva), eva).await;
    assert!(matches!(picked, Err(TicketError::LimitReached)), "{picked:?}");
    let taken = desk.desk.assign(desk.by(eva), &tickets[0].id, Some(eva)).await.expect("assigned");
    assert_eq!(holder(&taken), Some("eva"), "its place was kept, however it is taken");
    for ticket in &tickets[1..3] {
        desk.desk.accept(desk.by(eva), eva, &ticket.id).await.expect("accepted");
    }
    assert_eq!(offered(&desk.ticket(&tickets[3]).await), None);
    desk.desk.close(desk.by(eva), &tickets[0].id, Default::default()).await.expect("closed");
    assert_eq!(offered(&desk.ticket(&tickets[3]).await), Some("eva"));
}

async fn a_ticket_on_which_all_have_passed_holds_up_no_other(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva"]).await;
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    let eva = &users[0];
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    let second = desk.hand_over("bia", "bill").await.expect("a ticket");
    desk.desk.decline(desk.by(eva), eva, &first.id).await.expect("declined");
    assert_eq!(offered(&desk.ticket(&second).await), Some("eva"));
    assert_eq!(offered(&desk.ticket(&first).await), None);
}

async fn who_is_offered_a_ticket_hears_what_becomes_of_it(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva"]).await;
    let eva = &users[0];
    let leo = desk.add_agent("leo", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let assigned = desk.desk.assign(desk.by(&leo), &ticket.id, Some(&leo)).await.expect("assigned");
    assert_eq!((holder(&assigned), offered(&assigned)), (Some("leo"), None));
    let second = desk.hand_over("bia", "bill").await.expect("a ticket");
    let to_leo = TransferTicket { to_user_id: Some(leo.clone()), to_queue_id: None };
    let next = desk.desk.transfer(desk.by(&leo), &second.id, to_leo).await.expect("transferred");
    assert_eq!((holder(&next), offered(&next)), (Some("leo"), None));
    desk.change_queue("q1", |queue| queue.abandon_after_minutes = Some(1)).await;
    desk.presence.set(eva, PresenceStatus::Online).await.expect("set");
    let third = desk.hand_over("caio", "bill").await.expect("a ticket");
    assert_eq!(offered(&third), Some("eva"));
    desk.world.clock.advance(Duration::from_mins(1));
    assert_eq!(desk.sweep.tick().await.expect("swept"), 1);
    let heard = desk.heard(eva).await;
    let expected = [
        "ticket:offered",
        "ticket:offer-ended",
        "ticket:offered",
        "ticket:transferred",
        "ticket:offered",
        "ticket:closed",
    ];
    assert_eq!(heard, expected);
    assert_eq!(offered(&desk.ticket(&third).await), None);
}

async fn many_dispatchers_offer_a_ticket_once(store: SqlStore) {
    let (desk, users) = Helpdesk::offering(store, &["eva", "leo", "lia"]).await;
    desk.change_queue("q1", |queue| queue.distribution_strategy = ManualPickup).await;
    for at in 0..12 {
        desk.hand_over(&format!("v{at}"), "bill").await.expect("a ticket");
    }
    desk.change_queue("q1", |queue| queue.distribution_strategy = RoundRobin).await;
    let queue = "q1".parse().expect("an id");
    let dispatcher = || Dispatcher::new(Arc::clone(&desk.world.store), desk.world.cx.clone());
    let (one, two, three) = (dispatcher(), dispatcher(), dispatcher());
    let (one, two, three) = tokio::join!(one.dispatch(&queue), two.dispatch(&queue), three.dispatch(&queue));
    for lost in [one, two, three].into_iter().filter_map(Result::err) {
        assert!(lost.is_lost_race(), "{lost}");
    }
    desk.dispatcher.dispatch(&queue).await.expect("dispatched");
    let mut offers: BTreeMap<String, usize> = BTreeMap::new();
    for ticket in desk.tickets(Default::default()).await {
        if let Some(user) = offered(&ticket) {
            *offers.entry(user.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(
        offers.into_iter().collect::<Vec<_>>(),
        ["eva", "leo", "lia"].map(|user| (user.to_owned(), 3))
    );
    for user in &users {
        assert_eq!(desk.heard(user).await, ["ticket:offered"; 3]);
    }
}
