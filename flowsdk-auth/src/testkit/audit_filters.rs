//! The audit log: which records a list shows.

use std::time::Duration;

use flowsdk_core::change::EntityKind;
use flowsdk_core::id::{AuditLogId, least_id};
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::Timestamp;

use super::audit::{append, list, record};
use super::tx::*;
use super::world::{NOW, context, later, router_id};
use crate::audit::{AuditAction, AuditFilter, AuditRecord, AuditStatus};
use crate::permission::RouterScope;

/// Returns whether the record passes the filter.
fn fits(filter: &AuditFilter, record: &AuditRecord) -> bool {
    let AuditFilter { action, entity_type, actor_id, router_id, status, from, to, scope } = filter;
    action.is_none_or(|action| record.action == action)
        && entity_type.is_none_or(|entity_type| record.entity_type == Some(entity_type))
        && (actor_id.is_none() || record.actor_id == *actor_id)
        && (router_id.is_none() || record.router_id == *router_id)
        && status.is_none_or(|status| record.status == status)
        && from.is_none_or(|from| from <= record.created_at)
        && to.is_none_or(|to| record.created_at <= to)
        && match &record.router_id {
            Some(router) => scope.contains(router),
            None => *scope == RouterScope::All,
        }
}

/// Compares a list with the records that pass the filter, from the newest on and from the middle on.
async fn compare<S: Store>(subject: &StoreUnderTest<S>, records: &[AuditRecord], filter: &AuditFilter)
where
    S::Tx: AuthTx,
{
    let mut expected: Vec<_> = records.iter().filter(|record| fits(filter, record)).cloned().collect();
    expected.sort_unstable_by(|a, b| b.id.cmp(&a.id));
    let middle = &records[records.len() / 2].id;
    for before in [None, Some(middle)] {
        let listed = list(subject, filter, before, 5).await;
        let listed: Vec<_> = listed.into_iter().map(|recorded| recorded.record).collect();
        let fitting = expected.iter().filter(|record| before.is_none_or(|before| record.id < *before));
        assert_eq!(listed, fitting.take(5).cloned().collect::<Vec<_>>(), "{filter:?} before {before:?}");
    }
}

/// Every combination of filters shows the records that pass all of them.
pub async fn records_are_filtered<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    // Steps without a common divisor, so that the fields do not go together.
    let records: Vec<_> = (0..400usize)
        .map(|n| AuditRecord {
            action: [AuditAction::Login, AuditAction::Create, AuditAction::Update][n % 3],
            entity_type: [None, Some(EntityKind::Router), Some(EntityKind::Flow)][n / 2 % 3],
            actor_id: (n % 5 > 0).then(|| format!("actor{}", n % 5)),
            router_id: (n % 7 > 0).then(|| router_id(n % 7)),
            status: if n % 11 < 4 { AuditStatus::Failure } else { AuditStatus::Success },
            created_at: later(n as u64 / 3),
            ..record(&cx)
        })
        .collect();
    append(&subject, &records).await;
    let only = |routers: &[usize]| RouterScope::Only(routers.iter().map(|&n| router_id(n)).collect());
    for bits in 0..128u8 {
        let has = |bit: u8| bits & (1 << bit) > 0;
        for (router, scope) in [
            (None, RouterScope::All),
            (Some(3), RouterScope::All),
            (None, only(&[2])),
            (None, only(&[2, 5, 5, 99])),
            (Some(5), only(&[2, 5])),
            (Some(4), only(&[2, 5])),
        ] {
            let filter = AuditFilter {
                action: has(0).then_some(AuditAction::Create),
                entity_type: has(1).then_some(EntityKind::Router),
                actor_id: has(2).then(|| "actor2".to_owned()),
                router_id: router.map(router_id),
                status: has(3).then_some(if has(6) { AuditStatus::Success } else { AuditStatus::Failure }),
                from: has(4).then(|| later(30)),
                to: has(5).then(|| later(110)),
                scope,
            };
            compare(&subject, &records, &filter).await;
        }
    }
    for filter in [
        AuditFilter { action: Some(AuditAction::Publish), ..AuditFilter::default() },
        AuditFilter { actor_id: Some("'; --".to_owned()), ..AuditFilter::default() },
        AuditFilter { from: Some(later(10)), to: Some(later(9)), ..AuditFilter::default() },
        AuditFilter { from: Some(later(10)), to: Some(later(10)), ..AuditFilter::default() },
        AuditFilter { from: Some(Timestamp::from_millis(i64::MIN)), ..AuditFilter::default() },
        AuditFilter { to: Some(Timestamp::from_millis(i64::MAX)), ..AuditFilter::default() },
    ] {
        compare(&subject, &records, &filter).await;
    }
}

/// A scope shows the records of its routers, and none without a router; a filter for a router outside it
/// shows nothing.
pub async fn a_scope_hides_records_without_a_router<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let of = |router: Option<usize>| AuditRecord { router_id: router.map(router_id), ..record(&cx) };
    let records = [of(None), of(Some(1)), of(Some(2)), of(None), of(Some(3)), of(Some(1))];
    append(&subject, &records).await;
    for (scope, router, shown) in [
        (&[1][..], None, &[5, 1][..]),
        (&[1, 3], None, &[5, 4, 1]),
        (&[9, 8], None, &[]),
        (&[1, 3], Some(3), &[4]),
        (&[1, 3], Some(2), &[]),
    ] {
        let filter = AuditFilter {
            router_id: router.map(router_id),
            scope: RouterScope::Only(scope.iter().map(|&n| router_id(n)).collect()),
            ..AuditFilter::default()
        };
        let listed = list(&subject, &filter, None, 10).await;
        let ids: Vec<_> = listed.into_iter().map(|recorded| recorded.record.id).collect();
        let expected: Vec<_> = shown.iter().map(|&n: &usize| records[n].id.clone()).collect();
        assert_eq!(ids, expected, "{filter:?}");
    }
}

/// A range of times goes by the records' own, not by the times in their ids. A clock may have been wrong when they
/// were made, and an embedder's ids may know no time.
pub async fn times_count_even_where_ids_do_not_follow_them<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let hour = Duration::from_secs(3_600);
    let id = |id: String| AuditLogId::parse(id).expect("an id");
    let made = |at: Timestamp, n: usize| id(format!("{}0000tail{n:08}", least_id(at)));
    let mut records = Vec::new();
    for n in 0..40 {
        let created_at = later(0) + hour * n;
        records.push(AuditRecord { id: made(created_at, 0), created_at, ..record(&cx) });
    }
    let ranges: Vec<_> = [(None, Some(3)), (Some(30), None), (Some(10), Some(12)), (Some(90), Some(91))]
        .into_iter()
        .map(|(from, to)| AuditFilter {
            from: from.map(|n| NOW + hour * n),
            to: to.map(|n| NOW + hour * n),
            ..AuditFilter::default()
        })
        .collect();
    append(&subject, &records).await;
    let strays = [
        (made(NOW + hour * 20, 1), NOW + hour * 2),
        (made(NOW, 2), NOW + hour * 31),
        (made(Timestamp::from_millis(5), 3), NOW + hour * 11),
        (id("A-stranger".to_owned()), NOW + hour * 11),
        (id("zz|top".to_owned()), NOW + hour * 1),
        (id("cABCDEFGH".to_owned()), NOW + hour * 35),
        (id("c-1234567".to_owned()), NOW + hour * 90),
    ];
    // After each the same ranges are queried, because one stray may hide a record of another.
    for (id, created_at) in strays {
        for filter in &ranges {
            compare(&subject, &records, filter).await;
        }
        records.push(AuditRecord { id, created_at, ..record(&cx) });
        append(&subject, &records[records.len() - 1..]).await;
    }
    for filter in &ranges {
        compare(&subject, &records, filter).await;
    }
}
