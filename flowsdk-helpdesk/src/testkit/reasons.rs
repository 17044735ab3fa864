//! Close reasons.

use flowsdk_core::fault::StorageError;
use flowsdk_core::record::HasRecords;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;

use super::{HelpdeskTx, World, later};
use crate::close_reason::{CloseReason, HasCloseReasons as _};

/// A router without active close reasons takes any reason, and one with them takes their keys only.
pub async fn a_reason_is_taken_while_it_is_active_or_none_is<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let reason = |id: &str, key: &str| CloseReason {
        id: id.parse().expect("an id"),
        router_id: world.router.clone(),
        key: key.parse().expect("a key"),
        label: format!("Motivo {key}"),
        is_active: true,
        created_at: later(0),
        updated_at: later(1),
    };
    let (solved, spam) = (reason("a", "solved"), CloseReason { is_active: false, ..reason("b", "spam") });
    let elsewhere = "nowhere".parse().expect("an id");
    let mut tx = world.begin().await;
    for (active, taken) in
        [(None, [true; 3]), (Some(&spam), [true; 3]), (Some(&solved), [true, false, false])]
    {
        if let Some(record) = active {
            tx.records().insert(record).await.expect("insert");
            let found = HasRecords::<CloseReason>::records(&mut tx).find(&record.id).await.expect("find");
            assert_eq!(found.as_ref(), Some(record));
        }
        for (key, taken) in ["solved", "spam", "other words"].into_iter().zip(taken) {
            assert_eq!(
                tx.close_reasons().takes(&world.router, key).await.expect("an answer"),
                taken,
                "{key}"
            );
            assert!(tx.close_reasons().takes(&elsewhere, key).await.expect("an answer"), "{key}");
        }
    }
    let both = [CloseReason { is_active: false, ..solved }, CloseReason { is_active: true, ..spam }];
    for record in &both {
        tx.records().save(record).await.expect("save");
    }
    for (key, taken) in [("solved", false), ("spam", true)] {
        assert_eq!(tx.close_reasons().takes(&world.router, key).await.expect("an answer"), taken, "{key}");
    }
    let again = tx.records().insert(&reason("c", "solved")).await;
    assert!(matches!(again, Err(StorageError::Unique { .. })), "{again:?}");
}
