//! Tickets that nobody closes (rulings D3).

use std::time::Duration;

use flowsdk_core::session::HasSessions as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::ticket::{CloseKind, TicketStatus};
use flowsdk_store::sql::SqlStore;

use super::desk::Helpdesk;
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    a_silent_contact_abandons_a_waiting_ticket,
    a_ticket_ends_with_its_session,
}

const MINUTE: Duration = Duration::from_secs(60);

async fn a_silent_contact_abandons_a_waiting_ticket(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| queue.abandon_after_minutes = Some(10)).await;
    desk.add_queue("q2", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let worked = desk.hand_over("bia", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    let waiting = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.world.clock.advance(9 * MINUTE);
    assert_eq!(desk.sweep.tick().await.expect("swept"), 0);
    // Whoever writes is still there.
    desk.world.say("ana", "ana-more", "hello?").await;
    desk.take().await;
    desk.world.clock.advance(10 * MINUTE - Duration::from_millis(1));
    assert_eq!(desk.sweep.tick().await.expect("swept"), 0);
    desk.world.clock.advance(Duration::from_millis(1));
    assert_eq!(desk.sweep.tick().await.expect("swept"), 1);
    let after = desk.ticket(&waiting).await;
    assert_eq!((after.status, after.close_kind), (TicketStatus::Closed, Some(CloseKind::Abandoned)));
    assert_eq!(desk.go_on().await, ["Bye abandoned"]);
    assert_eq!(desk.ticket(&worked).await.status, TicketStatus::Assigned, "somebody has it");
    assert_eq!(desk.sweep.tick().await.expect("swept"), 0);
}

async fn a_ticket_ends_with_its_session(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let (lost, kept) = (
        desk.hand_over("ana", "bill").await.expect("one"),
        desk.hand_over("bia", "bill").await.expect("one"),
    );
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.sessions().delete_many(&[&session("ana")]).await.expect("deleted");
    tx.commit().await.expect("commit");
    assert_eq!(desk.sweep.tick().await.expect("swept"), 1);
    assert_eq!(desk.ticket(&lost).await.close_kind, Some(CloseKind::System));
    assert_eq!(desk.ticket(&kept).await.status, TicketStatus::Waiting);
}
