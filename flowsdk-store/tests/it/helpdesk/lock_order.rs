//! The order in which rows are locked. Two transactions with different ones wait for each other, and Postgres ends one.
//! On SQLite nobody else has locked anything.

use std::time::Duration;

use flowsdk_core::event::HelpdeskEvent;
use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::ticket::HasTickets as _;
use flowsdk_store::sql::{DatabaseUrl, SqlStore};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use super::desk::{Helpdesk, holder};
use crate::support::databases::{connected, new_postgres, routes};

/// A desk on Postgres whose locks can be looked at, if there is one.
async fn watched() -> Option<(Helpdesk, PgPool)> {
    let (DatabaseUrl::Postgres(options), name) = new_postgres().await? else { return None };
    let pool = PgPoolOptions::new().max_connections(4).connect_with(*options).await.expect("a pool");
    connected(name);
    let store = SqlStore::on_pool(pool.clone(), routes()).await.expect("a store");
    Some((Helpdesk::new(store).await, pool))
}

/// Returns when a transaction waits for another one.
async fn somebody_waits(pool: &PgPool) {
    let waits = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock')";
    let seen = async {
        while !sqlx::query_scalar::<_, bool>(waits).fetch_one(pool).await.expect("an answer") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), seen).await.expect("somebody waits");
}

/// Whoever gives out tickets has locked the first of two agents, and locks the second one when the intake waits.
#[tokio::test]
async fn handoffs_lock_their_users_in_the_order_of_agents() {
    let Some((desk, pool)) = watched().await else { return };
    desk.add_queue("q1", ManualPickup).await;
    let (eva, ivo) = (desk.add_agent("eva", &["q1"]).await, desk.add_agent("ivo", &["q1"]).await);
    desk.arrive("ana", "bill").await;
    desk.arrive("bia", "bill").await;
    let mut events = desk.events().await;
    for (event, user) in events.iter_mut().zip([&ivo, &eva]) {
        let HelpdeskEvent::Handoff(event) = event else { panic!("{event:?}") };
        event.preset_user_id = Some(UserId::clone(user));
    }
    let events: Vec<&HelpdeskEvent> = events.iter().collect();
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.tickets().lock_agent(&eva, None).await.expect("locked");
    let dispatch = async {
        somebody_waits(&pool).await;
        tx.tickets().lock_agent(&ivo, None).await.expect("the intake has not locked them");
        tx.commit().await.expect("commit");
    };
    let (taken, ()) = tokio::join!(desk.intake.take(&events), dispatch);
    taken.expect("taken");
    for (visitor, user) in [("ana", "ivo"), ("bia", "eva")] {
        let ticket = desk.open_ticket(visitor).await.expect("a ticket");
        assert_eq!(holder(&ticket), Some(user), "{visitor}");
    }
}

/// Whoever assigns the open ticket of a chat has locked the agent, and locks the ticket when the intake waits.
#[tokio::test]
async fn handoffs_lock_their_users_before_tickets() {
    let Some((desk, pool)) = watched().await else { return };
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    let before = desk.hand_over("ana", "bill").await.expect("a ticket");
    let mut event = desk.hands_over_again("ana").await;
    event.preset_user_id = Some(eva.clone());
    let event = HelpdeskEvent::Handoff(event);
    let mut tx = desk.world.store.begin().await.expect("begin");
    tx.tickets().lock_agent(&eva, None).await.expect("locked");
    let assign = async {
        somebody_waits(&pool).await;
        tx.tickets().find_for_update(&before.id).await.expect("the intake has not locked it");
        tx.commit().await.expect("commit");
    };
    let events = [&event];
    let (taken, ()) = tokio::join!(desk.intake.take(&events), assign);
    taken.expect("taken");
    let after = desk.open_ticket("ana").await.expect("a ticket");
    assert_eq!((holder(&after), &after.previous_ticket_id), (Some("eva"), &Some(before.id)));
}
