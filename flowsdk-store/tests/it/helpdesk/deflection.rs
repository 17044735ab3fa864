//! Queues that turn handoffs away, so that their flows go on.

use std::time::Duration;

use flowsdk_core::session::Mode;
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::queue::DeflectReason;
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    a_queue_turns_handoffs_away_when_nobody_is_there,
    whoever_has_lost_their_rights_is_not_there,
    a_full_queue_turns_handoffs_away,
    a_closed_queue_turns_handoffs_away,
    a_handoff_that_was_turned_away_comes_again,
    a_handoff_to_a_user_is_not_turned_away,
}

async fn a_queue_turns_handoffs_away_when_nobody_is_there(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| queue.deflect_when = vec![DeflectReason::NoAgent]).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    for (visitor, status, is_taken) in [
        ("ana", None, false),
        ("bia", Some(PresenceStatus::Away), false),
        ("caio", Some(PresenceStatus::Busy), true),
        ("davi", Some(PresenceStatus::Online), true),
        ("enzo", Some(PresenceStatus::Offline), false),
    ] {
        if let Some(status) = status {
            desk.presence.set(&eva, status).await.expect("set");
        }
        assert_eq!(desk.hand_over(visitor, "bill").await.is_some(), is_taken, "{visitor} at {status:?}");
        let said: &[&str] = if is_taken { &[] } else { &["Bye no_agent"] };
        assert_eq!(desk.go_on().await, said, "{visitor}");
        let mode = if is_taken { Mode::Human } else { Mode::Flow };
        assert_eq!(desk.session(visitor).await.mode, mode, "{visitor}");
    }
    desk.world.clock.advance(Duration::from_secs(60));
    desk.presence.set(&eva, PresenceStatus::Online).await.expect("set");
    desk.world.clock.advance(Duration::from_secs(60));
    assert_eq!(desk.hand_over("fabi", "bill").await, None, "the presence has run out");
}

async fn whoever_has_lost_their_rights_is_not_there(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| queue.deflect_when = vec![DeflectReason::NoAgent]).await;
    desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    for (visitor, routers, is_taken) in
        [("ana", &["router2"][..], false), ("bia", &["router1", "router2"], true), ("caio", &[], true)]
    {
        desk.confine("eva", routers).await;
        assert_eq!(desk.hand_over(visitor, "bill").await.is_some(), is_taken, "{visitor}");
    }
    // Nor is whoever may not serve contacts any more.
    desk.change_group("eva", |group| group.permissions = Default::default()).await;
    assert_eq!(desk.hand_over("davi", "bill").await, None);
}

async fn a_full_queue_turns_handoffs_away(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let change = |queue: &mut flowsdk_helpdesk::queue::Queue| {
        (queue.deflect_when, queue.max_waiting) = (vec![DeflectReason::Full], Some(2));
    };
    desk.change_queue("q1", change).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.hand_over("ana", "bill").await.expect("the first");
    // Those of one batch count as well.
    for visitor in ["bia", "caio", "davi"] {
        desk.arrive(visitor, "bill").await;
    }
    let events = desk.events().await;
    desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    assert_eq!(desk.tickets(Default::default()).await.len(), 2);
    assert_eq!(desk.go_on().await, ["Bye full"; 2]);
    // Whoever is served makes room.
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    desk.hand_over("enzo", "bill").await.expect("a ticket");
    assert_eq!(desk.hand_over("fabi", "bill").await, None);
}

async fn a_closed_queue_turns_handoffs_away(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let all = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let all_day = json!({ "spans": [{ "days": all, "from": "00:00", "to": "24:00" }] });
    let never = json!({ "spans": [] });
    for (visitor, hours, turns_away, is_taken) in
        [("ana", &never, true, false), ("bia", &all_day, true, true), ("caio", &never, false, true)]
    {
        desk.change_queue("q1", |queue| {
            queue.business_hours = Some(serde_json::from_value(hours.clone()).expect("hours"));
            queue.deflect_when = if turns_away { vec![DeflectReason::Closed] } else { Vec::new() };
        })
        .await;
        assert_eq!(desk.hand_over(visitor, "bill").await.is_some(), is_taken, "{visitor}");
        let said: &[&str] = if is_taken { &[] } else { &["Bye closed"] };
        assert_eq!(desk.go_on().await, said, "{visitor}");
    }
}

async fn a_handoff_that_was_turned_away_comes_again(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| queue.deflect_when = vec![DeflectReason::NoAgent]).await;
    desk.arrive("ana", "bill").await;
    let events = desk.events().await;
    for _ in 0..2 {
        desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    }
    assert_eq!(desk.go_on().await, ["Bye no_agent"], "the flow goes on once");
    desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    assert_eq!(desk.go_on().await, [""; 0]);
    assert_eq!(desk.tickets(Default::default()).await, []);
}

async fn a_handoff_to_a_user_is_not_turned_away(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| queue.deflect_when = vec![DeflectReason::NoAgent]).await;
    desk.add_agent("eva", &["q1"]).await;
    desk.arrive("ana", "bill").await;
    for event in desk.events().await {
        let flowsdk_core::event::HelpdeskEvent::Handoff(mut event) = event else { panic!("{event:?}") };
        event.preset_user_id = Some("eva".parse().expect("an id"));
        let event = flowsdk_core::event::HelpdeskEvent::Handoff(event);
        desk.intake.take(&[&event]).await.expect("taken");
    }
    assert!(desk.open_ticket("ana").await.is_some());
}
