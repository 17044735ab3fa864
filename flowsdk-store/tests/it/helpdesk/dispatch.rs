//! Waiting tickets go to agents (rulings D1, D2).

use std::time::Duration;

use flowsdk_auth::permission::{Action, Permission, Permissions, Resource};
use flowsdk_auth::user::{HasUsers as _, User, UserRole};
use flowsdk_core::event::HelpdeskEvent;
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::agent::{HasPresence as _, PresenceStatus};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup, RoundRobin};
use flowsdk_helpdesk::ticket::{TicketFilter, TicketStatus};
use flowsdk_store::sql::SqlStore;

use super::desk::{Helpdesk, holder, queue_of};
use crate::support::databases::on_every_database;

on_every_database! {
    a_ticket_goes_to_the_agent_with_the_fewest,
    tickets_go_round,
    the_queues_of_a_batch_share_the_room_of_their_agents,
    a_queue_for_pickup_gives_nothing_out,
    whoever_is_not_online_gets_nothing,
    whoever_may_not_serve_any_more_gets_nothing,
    waiting_tickets_go_to_whoever_comes_online,
    a_closed_ticket_makes_room_for_the_next,
    more_room_is_used_at_once,
    presence_is_renewed_and_runs_out,
}

async fn holders(desk: &Helpdesk) -> Vec<Option<String>> {
    let tickets = desk.tickets(TicketFilter::default()).await;
    tickets.iter().map(|ticket| holder(ticket).map(str::to_owned)).collect()
}

async fn a_ticket_goes_to_the_agent_with_the_fewest(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    for agent in ["eva", "ivo"] {
        desk.add_agent(agent, &["q1"]).await;
        desk.online(agent).await;
    }
    for visitor in ["v1", "v2", "v3", "v4"] {
        let ticket = desk.hand_over(visitor, "bill").await.expect("a ticket");
        assert_eq!(ticket.status, TicketStatus::Assigned);
    }
    let mut held: Vec<_> = holders(&desk).await.into_iter().flatten().collect();
    held.sort();
    assert_eq!(held, ["eva", "eva", "ivo", "ivo"]);
}

async fn tickets_go_round(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", RoundRobin).await;
    for agent in ["eva", "ivo", "leo"] {
        desk.add_agent(agent, &["q1"]).await;
        desk.online(agent).await;
    }
    let mut given = Vec::new();
    for at in 0..9 {
        // Who was last is remembered in the database.
        let ticket = desk.hand_over(&format!("v{at}"), "bill").await.expect("a ticket");
        given.push(holder(&ticket).expect("given").to_owned());
    }
    assert_eq!(given, ["eva", "ivo", "leo"].repeat(3));
    let tenth = desk.hand_over("v9", "bill").await.expect("a ticket");
    assert_eq!(holder(&tenth), None, "each has as many as the queue allows");
}

async fn the_queues_of_a_batch_share_the_room_of_their_agents(store: SqlStore) {
    const QUEUES: [&str; 3] = ["q1", "q2", "q3"];
    let desk = Helpdesk::new(store).await;
    for (queue, strategy) in QUEUES.into_iter().zip([LeastLoaded, RoundRobin, ManualPickup]) {
        desk.add_queue(queue, strategy).await;
    }
    desk.change_queue("q2", |queue| queue.accept_within_seconds = Some(30)).await;
    let mut users = Vec::new();
    for agent in ["eva", "ivo"] {
        users.push(desk.add_agent(agent, &QUEUES).await);
        desk.online(agent).await;
    }
    for at in 0..12 {
        desk.arrive(&format!("v{at}"), "bill").await;
    }
    let mut events = desk.events().await;
    for (event, queue) in events.iter_mut().zip(QUEUES.into_iter().cycle()) {
        let HelpdeskEvent::Handoff(event) = event else { panic!("{event:?}") };
        event.preset_queue_id = Some(queue.parse().expect("an id"));
    }
    desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    let tickets = desk.tickets(TicketFilter::default()).await;
    let of = |queue: &str| tickets.iter().filter(|ticket| queue_of(ticket) == queue).collect::<Vec<_>>();
    assert!(of("q1").iter().all(|ticket| ticket.status == TicketStatus::Assigned), "{tickets:?}");
    assert_eq!(of("q2").iter().filter(|ticket| ticket.offered_to().is_some()).count(), 2, "{tickets:?}");
    assert!(of("q3").iter().all(|ticket| ticket.addressee().is_none()), "{tickets:?}");
    for user in &users {
        assert_eq!(desk.heard(user).await, ["ticket:assigned", "ticket:assigned", "ticket:offered"]);
    }
}

async fn a_queue_for_pickup_gives_nothing_out(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    desk.hand_over("ana", "bill").await;
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(holders(&desk).await, [None]);
}

async fn whoever_is_not_online_gets_nothing(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.add_queue("q2", LeastLoaded).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.add_agent("ivo", &["q2"]).await;
    desk.online("ivo").await;
    desk.hand_over("ana", "bill").await;
    assert_eq!(holders(&desk).await, [None], "ivo works in another queue");
    for status in [PresenceStatus::Away, PresenceStatus::Busy, PresenceStatus::Offline] {
        desk.presence.set(&eva, status).await.expect("set");
        desk.dispatcher.sweep().await.expect("swept");
        assert_eq!(holders(&desk).await, [None], "{status:?}");
    }
}

async fn whoever_may_not_serve_any_more_gets_nothing(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 9).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    let only = |resource, action| Permissions::from(vec![Permission { resource, actions: vec![action] }]);
    let read = only(Resource::Helpdesk, Action::Read);
    let elsewhere = only(Resource::Chats, Action::Write);
    let serve = only(Resource::Helpdesk, Action::Write);
    for (visitor, permissions, expected) in [
        ("v1", serve, Some("eva")),
        ("v2", read, None),
        ("v3", elsewhere, None),
        ("v4", Permissions::default(), None),
    ] {
        desk.change_group("eva", |group| group.permissions = permissions).await;
        let ticket = desk.hand_over(visitor, "bill").await.expect("a ticket");
        assert_eq!(holder(&ticket), expected, "{visitor}");
    }
    // An administrator needs no permission, and whoever is in no group has none.
    let change_user = async |change: fn(&mut User)| {
        let mut tx = desk.world.store.begin().await.expect("begin");
        let mut user = tx.users().find_for_update(&eva).await.expect("find").expect("a user");
        change(&mut user);
        tx.users().save(&user).await.expect("saved");
        tx.commit().await.expect("commit");
        desk.dispatcher.sweep().await.expect("swept");
    };
    change_user(|user| user.group_id = None).await;
    assert_eq!(holders(&desk).await.iter().flatten().count(), 1);
    change_user(|user| user.role = UserRole::Admin).await;
    assert_eq!(holders(&desk).await.iter().flatten().count(), 4);
}

async fn waiting_tickets_go_to_whoever_comes_online(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.add_agent("eva", &["q1"]).await;
    for visitor in ["v1", "v2", "v3", "v4"] {
        desk.hand_over(visitor, "bill").await;
        desk.world.clock.advance(Duration::from_secs(1));
    }
    desk.online("eva").await;
    let eva = || Some("eva".to_owned());
    assert_eq!(holders(&desk).await, [eva(), eva(), eva(), None], "the oldest, as far as she has room");
}

async fn a_closed_ticket_makes_room_for_the_next(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    let first = desk.hand_over("v0", "bill").await.expect("a ticket");
    for at in 1..4 {
        desk.world.clock.advance(Duration::from_secs(1));
        desk.hand_over(&format!("v{at}"), "bill").await;
    }
    assert_eq!(holders(&desk).await.iter().flatten().count(), 3);
    desk.desk.close(desk.by(&eva), &first.id, Default::default()).await.expect("closed");
    assert_eq!(holders(&desk).await.iter().flatten().count(), 4, "with the closed one");
    assert_eq!(
        desk.tickets(TicketFilter { status: Some(TicketStatus::Waiting), ..Default::default() }).await,
        []
    );
}

async fn more_room_is_used_at_once(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 1).await;
    desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    for visitor in ["v1", "v2"] {
        desk.hand_over(visitor, "bill").await;
    }
    assert_eq!(holders(&desk).await.iter().flatten().count(), 1);
    let (author, queue) = (flowsdk_core::change::Author::default(), "q1".parse().expect("an id"));
    let change =
        serde_json::from_value(serde_json::json!({ "maxConcurrentTicketsPerAgent": 2 })).expect("a change");
    desk.queues.change(&author, flowsdk_core::router::Reach::ALL, &queue, change).await.expect("changed");
    assert_eq!(holders(&desk).await.iter().flatten().count(), 2);
    desk.hand_over("v3", "bill").await;
    desk.add_agent("ivo", &[]).await;
    desk.online("ivo").await;
    assert_eq!(holders(&desk).await.iter().flatten().count(), 2);
    let ivo = "agent-ivo".parse().expect("an id");
    desk.queues.add_agent(&author, flowsdk_core::router::Reach::ALL, &queue, &ivo).await.expect("added");
    assert_eq!(holders(&desk).await.iter().flatten().count(), 3);
}

async fn presence_is_renewed_and_runs_out(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let seen = async |user: &UserId| {
        let mut tx = desk.world.store.read().await.expect("read");
        let people =
            tx.presence().people(std::slice::from_ref(user), desk.world.cx.now()).await.expect("people");
        (people[0].name.clone(), people[0].presence)
    };
    assert_eq!(seen(&eva).await, ("EVA".to_owned(), PresenceStatus::Offline));
    assert_eq!(
        desk.presence.renew(&eva).await.expect("renewed"),
        PresenceStatus::Offline,
        "nothing to renew"
    );
    desk.presence.set(&eva, PresenceStatus::Away).await.expect("set");
    for _ in 0..3 {
        desk.world.clock.advance(Duration::from_secs(59));
        assert_eq!(desk.presence.renew(&eva).await.expect("renewed"), PresenceStatus::Away);
    }
    desk.world.clock.advance(Duration::from_secs(60));
    assert_eq!(seen(&eva).await.1, PresenceStatus::Offline);
    assert_eq!(desk.presence.renew(&eva).await.expect("renewed"), PresenceStatus::Offline, "too late");
    desk.online("eva").await;
    desk.world.clock.advance(Duration::from_secs(60));
    desk.hand_over("ana", "bill").await;
    assert_eq!(holders(&desk).await, [None], "she is not there any more");
}
