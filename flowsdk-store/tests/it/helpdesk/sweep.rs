//! Tickets that nobody closes (rulings D3).

use std::time::Duration;

use flowsdk_core::record::HasRecords;
use flowsdk_core::session::HasSessions as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::agent::{DeskAgent, DeskAgentId, PRESENCE_LIFETIME, PresenceStatus};
use flowsdk_helpdesk::desk::TransferTicket;
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::ticket::{CloseKind, OpenedByKind, TicketError, TicketStatus};
use flowsdk_store::sql::SqlStore;

use super::desk::{Helpdesk, holder, queue_of};
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    a_silent_contact_abandons_a_waiting_ticket,
    a_ticket_ends_with_its_session,
    a_ticket_of_an_agent_who_stays_away_waits_again,
    a_ticket_of_a_user_who_is_no_agent_any_more_waits_again,
    an_agent_whose_group_has_lost_the_router_gets_none_of_its_tickets,
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

async fn a_ticket_of_an_agent_who_stays_away_waits_again(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.change_queue("q1", |queue| queue.reassign_after_minutes = Some(10)).await;
    desk.add_queue("q2", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!(holder(&desk.ticket(&ticket).await), Some("eva"));
    // Whoever comes back in time keeps it, and the time begins anew.
    desk.world.clock.advance(PRESENCE_LIFETIME + 9 * MINUTE);
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 0);
    desk.online("eva").await;
    desk.presence.set(&eva, PresenceStatus::Offline).await.expect("set");
    desk.world.clock.advance(10 * MINUTE - Duration::from_millis(1));
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 0);
    desk.world.clock.advance(Duration::from_millis(1));
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 1);
    let [before, after] = &desk.chain("ana").await[..] else { panic!("two tickets") };
    assert_eq!((&before.id, before.close_kind), (&ticket.id, Some(CloseKind::QueueTransfer)));
    assert_eq!((after.status, queue_of(after), holder(after)), (TicketStatus::Waiting, "q1", None));
    assert_eq!(
        (after.opened_by_kind, after.previous_ticket_id.as_ref()),
        (OpenedByKind::System, Some(&before.id))
    );
    let session = desk.session("ana").await;
    assert_eq!(
        session.helpdesk.and_then(|state| state.ticket_id),
        Some(after.id.clone()),
        "the session follows"
    );
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 0);
    assert_eq!(desk.go_on().await, [""; 0], "the conversation stays with people");
    // The next one gets it.
    desk.add_agent("bob", &["q1"]).await;
    desk.online("bob").await;
    assert_eq!(holder(&desk.ticket(after).await), Some("bob"));
}

async fn a_ticket_of_a_user_who_is_no_agent_any_more_waits_again(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up");
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 0, "the queue lets agents be away");
    let id: DeskAgentId = "agent-eva".parse().expect("an id");
    let mut tx = desk.world.store.begin().await.expect("begin");
    HasRecords::<DeskAgent>::records(&mut tx).delete(&id).await.expect("deleted");
    tx.commit().await.expect("commit");
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 1);
    let waiting = desk.open_ticket("ana").await.expect("a ticket");
    assert_eq!((waiting.status, waiting.previous_ticket_id), (TicketStatus::Waiting, Some(ticket.id)));
}

async fn an_agent_whose_group_has_lost_the_router_gets_none_of_its_tickets(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.online("eva").await;
    desk.confine("eva", &["router1", "router2"]).await;
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!(holder(&first), Some("eva"));
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 0);
    desk.confine("eva", &["router2"]).await;
    assert_eq!(desk.sweep.take_back().await.expect("swept"), 1);
    let next = desk.open_ticket("ana").await.expect("a ticket");
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(holder(&desk.ticket(&next).await), None, "there is nobody else");
    let to_eva = TransferTicket { to_user_id: Some(eva.clone()), to_queue_id: None };
    let refused = desk.desk.transfer(desk.by(&eva), &next.id, to_eva).await;
    assert!(matches!(refused, Err(TicketError::AgentUnknown)), "{refused:?}");
    // A group without routers is confined to none.
    desk.confine("eva", &[]).await;
    desk.dispatcher.sweep().await.expect("swept");
    assert_eq!(holder(&desk.ticket(&next).await), Some("eva"));
}
