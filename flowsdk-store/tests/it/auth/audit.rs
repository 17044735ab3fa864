//! The audit log (spec A 2.7, 4.10, 6, rulings A11).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::audit::{
    self, AuditAction, AuditFilter, AuditLogs, AuditRecord, AuditRetention, HasAuditLogs as _,
};
use flowsdk_core::change::{Change, Entity, EntityKind};
use flowsdk_core::id::AuditLogId;
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::store::TestStore;
use super::world::World;
use crate::support::databases::on_every_database;

on_every_database! {
    records_are_written_in_batches_and_kept_while_storage_is_away,
    what_was_recorded_is_written_at_the_end,
    nobody_waits_for_a_full_queue,
    a_page_goes_on_where_the_last_one_ended,
    what_is_too_old_is_forgotten,
}

fn record(world: &World, n: u32) -> AuditRecord {
    let id = n.to_string();
    let entity = Entity { kind: EntityKind::Flow, id: &id, router_id: None };
    let (actor, change) = (world.actor(), Change::Created(json!({ "n": n, "password": "secret" })));
    let by = (actor.principal.id(), &actor.origin);
    AuditRecord::of_change(&world.cx, by, entity, &change).expect("a record")
}

async fn written(store: &Arc<TestStore>) -> Vec<AuditRecord> {
    let mut tx = store.read().await.expect("read");
    let items = tx.audit_logs().list(&AuditFilter::default(), None, 2_000).await.expect("a list");
    items.into_iter().rev().map(|item| item.record).collect()
}

async fn records_are_written_in_batches_and_kept_while_storage_is_away(store: SqlStore) {
    let world = World::new(store);
    let (recorder, writer) = audit::channel(Arc::clone(&world.store), 1_000);
    let records: Vec<_> = (0..500).map(|n| record(&world, n)).collect();
    records.iter().cloned().for_each(|record| recorder.record(record));
    world.store.behaviour().away = 2;
    let before = world.store.behaviour().writes;
    let stop = CancellationToken::new();
    let watch = async {
        while world.store.behaviour().writes < before + 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
    };
    let ((), ()) = futures_util::future::join(writer.run(stop.clone()), watch).await;
    assert_eq!(written(&world.store).await, records);
    assert_eq!(world.store.behaviour().writes, before + 4, "500 records in batches of 128");
    let shown = json!({ "n": 7 });
    assert_eq!(records[7].changes, Some(shown), "without the password");
}

async fn what_was_recorded_is_written_at_the_end(store: SqlStore) {
    let world = World::new(store);
    let (recorder, writer) = audit::channel(Arc::clone(&world.store), 1_000);
    let records: Vec<_> = (0..300).map(|n| record(&world, n)).collect();
    records.iter().cloned().for_each(|record| recorder.record(record));
    let stop = CancellationToken::new();
    stop.cancel();
    writer.run(stop).await;
    assert_eq!(written(&world.store).await, records);
    recorder.record(record(&world, 300));
    assert_eq!(written(&world.store).await.len(), 300, "too late, and no panic");

    // While storage is away at the end it is tried a few times, not for ever.
    let (recorder, writer) = audit::channel(Arc::clone(&world.store), 1_000);
    recorder.record(record(&world, 301));
    world.store.behaviour().away = 1_000;
    let stop = CancellationToken::new();
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(30), writer.run(stop)).await.expect("it ends");
    world.store.behaviour().away = 0;
    assert_eq!(written(&world.store).await.len(), 300);
}

async fn nobody_waits_for_a_full_queue(store: SqlStore) {
    let world = World::new(store);
    let (recorder, writer) = audit::channel(Arc::clone(&world.store), 10);
    let records: Vec<_> = (0..50).map(|n| record(&world, n)).collect();
    records.iter().cloned().for_each(|record| recorder.record(record));
    let stop = CancellationToken::new();
    stop.cancel();
    writer.run(stop).await;
    assert_eq!(written(&world.store).await, records[..10], "the rest is counted and logged");
}

async fn a_page_goes_on_where_the_last_one_ended(store: SqlStore) {
    let world = World::new(store);
    for n in 0..5 {
        world.audit.record(record(&world, n));
    }
    let all = world.recorded().await;
    let logs = AuditLogs::new(Arc::clone(&world.store));
    let (mut before, mut seen, mut pages): (Option<AuditLogId>, Vec<AuditLogId>, u32) = (None, vec![], 0);
    loop {
        let page = logs
            .list(Reach::ALL, Admitted::trusted(AuditFilter::default()), before.as_ref(), 2)
            .await
            .expect("a page");
        assert!(page.items.len() <= 2);
        seen.extend(page.items.into_iter().map(|item| item.record.id));
        pages += 1;
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    assert_eq!((seen, pages), (all.into_iter().rev().map(|record| record.id).collect(), 3));
}

async fn what_is_too_old_is_forgotten(store: SqlStore) {
    let world = World::new(store);
    let day = Duration::from_secs(24 * 60 * 60);
    let mut old = Vec::new();
    for n in 0..1_050 {
        old.push(record(&world, n));
    }
    let mut tx = world.store.begin().await.expect("begin");
    for batch in old.chunks(500) {
        tx.audit_logs().append(batch).await.expect("written");
    }
    tx.commit().await.expect("commit");
    world.pass(Duration::from_millis(1));
    world.audit.record(record(&world, 2_000));
    let keep = day * 90;
    let retention =
        AuditRetention::new(Arc::clone(&world.store), world.cx.clone(), world.audit.clone(), keep);
    world.pass(keep - Duration::from_millis(1));
    assert_eq!(retention.tick(world.cx.now()).await.expect("done"), 0, "exactly as old as they may be");
    world.pass(Duration::from_millis(1));
    assert_eq!(retention.tick(world.cx.now()).await.expect("done"), 1_050);
    assert_eq!(retention.tick(world.cx.now()).await.expect("done"), 0);
    let left = world.recorded().await;
    let actions: Vec<_> = left.iter().map(|record| record.action).collect();
    assert_eq!(actions, [AuditAction::Create, AuditAction::RetentionCleanup], "one record tells of it");
    let told = &left[1];
    let cutoff = (world.cx.now() - keep).to_iso();
    assert_eq!(told.changes, Some(json!({ "deletedCount": 1_050, "cutoffDate": cutoff })));
    assert_eq!((&told.actor_id, &told.metadata, &told.entity_type), (&None, &None, &None));
}
