//! Password recoveries.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::{PasswordRecoveryId, UserId};
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use tokio::task::JoinSet;

use super::tx::*;
use super::world::{NOW, context, insert_user, later, user};
use crate::recovery::PasswordRecovery;

fn recovery(cx: &OpContext, user: &UserId, created: u64, expires: u64) -> PasswordRecovery {
    PasswordRecovery {
        id: PasswordRecoveryId::generate(cx.ids()),
        user_id: user.clone(),
        code_hash: format!("hash {created}"),
        expires_at: later(expires),
        completed: false,
        wrong_tries: 0,
        created_at: later(created),
    }
}

/// Stores recoveries.
async fn insert<S: Store>(subject: &StoreUnderTest<S>, recoveries: &[PasswordRecovery])
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    for recovery in recoveries {
        tx.password_recoveries().insert(recovery).await.expect("insert");
    }
    tx.commit().await.expect("commit");
}

/// The user's newest recovery that still holds, at the moment asked for.
async fn latest<S: Store>(subject: &StoreUnderTest<S>, user: &UserId, at: u64) -> Option<PasswordRecovery>
where
    S::Tx: AuthTx,
{
    let mut tx = subject.store.begin().await.expect("begin");
    tx.password_recoveries().latest_for_update(user, later(at)).await.expect("find")
}

/// Of a user's recoveries the newest that is open counts, and comes back as it was stored.
pub async fn the_newest_open_recovery_is_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (ana, bia) = (user(&cx, "ana@example.com"), user(&cx, "bia@example.com"));
    insert_user(&subject, &ana).await;
    insert_user(&subject, &bia).await;
    let [first, second, third] = [(1, 100), (2, 50), (3, 60)].map(|(c, e)| recovery(&cx, &ana.id, c, e));
    let third = PasswordRecovery { completed: true, wrong_tries: 5, ..third };
    let foreign = recovery(&cx, &bia.id, 4, 200);
    insert(&subject, &[first.clone(), second.clone(), third, foreign]).await;
    assert_eq!(latest(&subject, &ana.id, 0).await.as_ref(), Some(&second));
    assert_eq!(latest(&subject, &ana.id, 49).await, Some(second));
    // It is void from the moment on at which it expires.
    assert_eq!(latest(&subject, &ana.id, 50).await, Some(first));
    assert_eq!(latest(&subject, &ana.id, 100).await, None);
    assert_eq!(latest(&subject, &UserId::generate(cx.ids()), 0).await, None);
}

/// Of sixteen that try a wrong code at once each counts.
pub async fn wrong_tries_are_counted_one_by_one<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let ana = user(&cx, "ana@example.com");
    insert_user(&subject, &ana).await;
    insert(&subject, &[recovery(&cx, &ana.id, 0, 100)]).await;
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let (store, user) = (Arc::clone(&subject.store), ana.id.clone());
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let found = tx.password_recoveries().latest_for_update(&user, NOW).await.expect("find");
            let Some(mut recovery) = found else {
                return false;
            };
            recovery.wrong_tries += 1;
            recovery.completed = recovery.wrong_tries == 5;
            tokio::task::yield_now().await;
            tx.password_recoveries().save(&recovery).await.expect("save");
            tx.commit().await.expect("commit");
            true
        });
    }
    let tried = tasks.join_all().await.into_iter().filter(|tried| *tried).count();
    assert_eq!(tried, 5);
    assert_eq!(latest(&subject, &ana.id, 0).await, None);
}

/// All recoveries of a user are completed at once, and nobody else's are.
pub async fn completed_recoveries_are_void<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let (ana, bia) = (user(&cx, "ana@example.com"), user(&cx, "bia@example.com"));
    insert_user(&subject, &ana).await;
    insert_user(&subject, &bia).await;
    let foreign = recovery(&cx, &bia.id, 1, 100);
    insert(&subject, &[recovery(&cx, &ana.id, 1, 100), recovery(&cx, &ana.id, 2, 100), foreign.clone()])
        .await;
    let mut tx = subject.store.begin().await.expect("begin");
    tx.password_recoveries().complete_all(&ana.id).await.expect("complete");
    tx.commit().await.expect("commit");
    assert_eq!(latest(&subject, &ana.id, 0).await, None);
    assert_eq!(latest(&subject, &bia.id, 0).await, Some(foreign));
}

/// A recovery that expired before the cutoff is deleted, completed or not.
pub async fn old_recoveries_are_purged<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let cx = context();
    let ana = user(&cx, "ana@example.com");
    insert_user(&subject, &ana).await;
    let old = recovery(&cx, &ana.id, 5, 10);
    let young = recovery(&cx, &ana.id, 1, 20);
    insert(&subject, &[PasswordRecovery { completed: true, ..old.clone() }, young.clone()]).await;
    insert(&subject, &[recovery(&cx, &ana.id, 6, 10)]).await;
    for (cutoff, gone) in [(10, 0), (11, 2), (20, 0)] {
        let mut tx = subject.store.begin().await.expect("begin");
        assert_eq!(tx.password_recoveries().purge(later(cutoff)).await.expect("purge"), gone);
        tx.commit().await.expect("commit");
    }
    assert_eq!(latest(&subject, &ana.id, 0).await, Some(young));
}
