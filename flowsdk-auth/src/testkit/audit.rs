//! The audit log: records and their order.

use flowsdk_core::change::EntityKind;
use flowsdk_core::context::OpContext;
use flowsdk_core::id::AuditLogId;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::Timestamp;
use serde_json::json;

use super::tx::*;
use super::world::{HOSTILE, NOW, SIZES, context, insert_user, later, router_id, user};
use crate::audit::{AuditAction, AuditActor, AuditFilter, AuditRecord, AuditStatus, RecordedAudit};
use crate::user::User;

/// A record of a failed login, at [`NOW`].
pub(super) fn record(cx: &OpContext) -> AuditRecord {
    AuditRecord {
        id: AuditLogId::generate(cx.ids()),
        action: AuditAction::Login,
        entity_type: None,
        entity_id: None,
        actor_id: None,
        router_id: None,
        status: AuditStatus::Failure,
        changes: None,
        metadata: None,
        created_at: NOW,
    }
}

/// Stores records.
pub(super) async fn append<S: Store>(subject: &StoreUnderTest<S>, records: &[AuditRecord])
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    tx.audit_logs().append(records).await.expect("append");
    tx.commit().await.expect("commit");
}

/// Returns the content of a list.
pub(super) async fn list<S: Store>(
    subject: &StoreUnderTest<S>,
    filter: &AuditFilter,
    before: Option<&AuditLogId>,
    limit: u32,
) -> Vec<RecordedAudit>
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.read().await.expect("read");
    tx.audit_logs().list(filter, before, limit).await.expect("list")
}

async fn all<S: Store>(subject: &StoreUnderTest<S>) -> Vec<AuditRecord>
where
    S::Tx: AuthTx,
{
    let listed = list(subject, &AuditFilter::default(), None, 1_000).await;
    listed.into_iter().map(|recorded| recorded.record).collect()
}

/// A record comes back as it was written, whatever stands in it, with every action and kind of entity.
pub async fn a_record_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut records = vec![record(&cx)];
    records.push(AuditRecord {
        action: AuditAction::Update,
        entity_type: Some(EntityKind::Router),
        entity_id: Some(HOSTILE.to_owned()),
        actor_id: Some(HOSTILE.to_owned()),
        router_id: Some(router_id(1)),
        status: AuditStatus::Success,
        changes: Some(json!({ "name": { "from": HOSTILE, "to": null }, "list": [1, 2.5, true, {}] })),
        metadata: Some(json!({ "ip": "::1", "userAgent": HOSTILE })),
        created_at: later(7),
        ..record(&cx)
    });
    records.extend(AuditAction::ALL.iter().map(|&action| AuditRecord { action, ..record(&cx) }));
    records.extend(EntityKind::ALL.iter().map(|&one| AuditRecord { entity_type: Some(one), ..record(&cx) }));
    append(&subject, &records).await;
    records.reverse();
    assert_eq!(all(&subject).await, records);
}

/// A batch whose commit was not heard of is written again without harm.
pub async fn a_batch_that_comes_again_changes_nothing<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut records: Vec<_> = (0..3).map(|_| record(&cx)).collect();
    append(&subject, &records[..2]).await;
    append(&subject, &records).await;
    append(&subject, &records).await;
    records.reverse();
    assert_eq!(all(&subject).await, records);
}

/// No batch is too large, and none too small.
pub async fn records_in_batches_of_any_size<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut expected = Vec::new();
    for size in SIZES {
        let batch: Vec<_> = (0..size).map(|_| record(&cx)).collect();
        append(&subject, &batch).await;
        expected.extend(batch);
    }
    expected.reverse();
    expected.truncate(1_000);
    assert_eq!(all(&subject).await, expected);
}

/// A record shows its user as they are now; without them, or of an API client, it stays without.
pub async fn the_actor_is_shown_while_he_exists<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (ana, bia) = (user(&cx, "ana@example.com"), user(&cx, "bia@example.com"));
    insert_user(&subject, &ana).await;
    insert_user(&subject, &bia).await;
    let of = |actor: Option<&str>| AuditRecord { actor_id: actor.map(str::to_owned), ..record(&cx) };
    let records =
        [of(Some(ana.id.as_str())), of(Some(bia.id.as_str())), of(Some("some-api-client")), of(None)];
    append(&subject, &records).await;
    let mut tx = subject.store.begin().await.expect("begin");
    tx.users().save(&User { name: "Ana Maria".to_owned(), ..ana.clone() }).await.expect("save");
    assert!(tx.users().delete(&bia.id).await.expect("delete"));
    tx.commit().await.expect("commit");
    let shown = AuditActor { id: ana.id, name: "Ana Maria".to_owned(), email: ana.email.to_string() };
    let listed = list(&subject, &AuditFilter::default(), None, 10).await;
    let actors: Vec<_> = listed.iter().map(|recorded| recorded.actor.clone()).collect();
    assert_eq!(actors, [None, None, None, Some(shown)]);
    let kept: Vec<_> = listed.into_iter().map(|recorded| recorded.record).collect();
    assert_eq!(kept, records.into_iter().rev().collect::<Vec<_>>());
}

/// Pages follow each other by id, whatever comes meanwhile and whatever the times of the records.
pub async fn the_log_is_read_in_the_order_of_ids<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let mut records: Vec<_> =
        (0..20u64).map(|n| AuditRecord { created_at: later(n * 7 % 5), ..record(&cx) }).collect();
    append(&subject, &records).await;
    records.reverse();
    let (mut read, mut before) = (Vec::new(), None);
    loop {
        let page = list(&subject, &AuditFilter::default(), before.as_ref(), 3).await;
        assert!(page.len() <= 3);
        let Some(last) = page.last() else {
            break;
        };
        before = Some(last.record.id.clone());
        read.extend(page.into_iter().map(|recorded| recorded.record));
        append(&subject, &[record(&cx)]).await;
    }
    assert_eq!(read, records);
    let past = list(&subject, &AuditFilter::default(), Some(&"c".parse().expect("an id")), 3).await;
    assert_eq!(past, []);
}

/// A purge takes the oldest records from before the cutoff, and no more than it may.
pub async fn old_records_are_purged_oldest_first<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let records: Vec<_> = (0..10).map(|n| AuditRecord { created_at: later(n), ..record(&cx) }).collect();
    append(&subject, &records).await;
    for (limit, gone, left) in [(2, 2, 8), (3, 3, 5), (100, 1, 4), (100, 0, 4)] {
        let mut tx = subject.store.begin().await.expect("begin");
        assert_eq!(tx.audit_logs().purge(later(6), limit).await.expect("purge"), gone);
        tx.commit().await.expect("commit");
        let kept: Vec<_> = records[records.len() - left..].iter().rev().cloned().collect();
        assert_eq!(all(&subject).await, kept);
    }
    let mut tx = subject.store.begin().await.expect("begin");
    assert_eq!(tx.audit_logs().purge(Timestamp::from_millis(0), 10).await.expect("purge"), 0);
}
