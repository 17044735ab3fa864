//! Requests that take effect once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flowsdk_core::idempotency::{Begun, IdempotencyKey, IdempotentRequest, KEPT_FOR, StoredAnswer};
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::tx::*;
use super::world::{HOSTILE, NOW, context, user};

fn request(principal: &str, key: &str, digest: &str) -> IdempotentRequest {
    let key = IdempotencyKey::parse(key).expect("a key");
    IdempotentRequest { principal_id: principal.to_owned(), key, digest: digest.to_owned() }
}

fn answer(text: &str) -> StoredAnswer {
    StoredAnswer { status: 201, body: format!("{{\"id\":{text:?}}}") }
}

/// Begins a request in a transaction of its own; a first one is finished with `answer`.
async fn serve<S: Store>(
    store: &Arc<S>,
    request: &IdempotentRequest,
    now: Timestamp,
    answer: &StoredAnswer,
) -> Begun
where
    S::Tx: AuthTx,
{
    let mut tx = store.begin().await.expect("begin");
    let begun = tx.idempotency().begin(request, now).await.expect("begin");
    if begun == Begun::First {
        tokio::task::yield_now().await;
        tx.idempotency().finish(request, answer).await.expect("finish");
        tx.commit().await.expect("commit");
    }
    begun
}

/// The first answer comes again, to the same principal under the same key.
pub async fn a_repeated_request_is_answered_from_the_store<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let store = &subject.store;
    let first = answer(HOSTILE);
    let longest = "~".repeat(255);
    for (principal, key) in [("ana", "k"), ("bia", "k"), ("ana", "K"), ("ana", &longest)] {
        let request = request(principal, key, "digest");
        assert_eq!(serve(store, &request, NOW, &first).await, Begun::First, "{principal} {key}");
        for _ in 0..2 {
            let again = serve(store, &request, NOW, &answer("other")).await;
            assert_eq!(again, Begun::Replay(first.clone()), "{principal} {key}");
        }
    }
}

/// A key with another digest is told, and the first answer stays.
pub async fn another_request_under_the_same_key_is_told<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let store = &subject.store;
    let first = request("ana", "k", "one");
    assert_eq!(serve(store, &first, NOW, &answer("1")).await, Begun::First);
    let other = serve(store, &request("ana", "k", "two"), NOW, &answer("2")).await;
    assert_eq!(other, Begun::OtherRequest);
    assert_eq!(serve(store, &first, NOW, &answer("3")).await, Begun::Replay(answer("1")));
}

/// Of sixteen callers that begin one request at once one performs it, and the others wait for their answer.
pub async fn of_many_that_begin_at_once_one_is_the_first<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    for round in 0..4 {
        let mut tasks = JoinSet::new();
        for n in 0..16 {
            let store = Arc::clone(&subject.store);
            tasks.spawn(async move {
                let request = request("ana", &format!("k{round}"), "digest");
                let answer = answer(&n.to_string());
                (serve(&store, &request, NOW, &answer).await, answer)
            });
        }
        let served = tasks.join_all().await;
        let (first, others): (Vec<_>, Vec<_>) =
            served.into_iter().partition(|(begun, _)| *begun == Begun::First);
        let [(_, answer)] = &first[..] else { panic!("{} were the first", first.len()) };
        assert!(others.iter().all(|(begun, _)| *begun == Begun::Replay(answer.clone())), "{others:?}");
    }
}

/// A rollback takes request and effect back: whoever waited for it is the first.
pub async fn what_was_rolled_back_was_never_begun<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let store = &subject.store;
    let request = request("ana", "k", "digest");
    let ana = user(&context(), "ana@example.com");
    let mut tx = store.begin().await.expect("begin");
    assert_eq!(tx.idempotency().begin(&request, NOW).await.expect("begin"), Begun::First);
    tx.idempotency().finish(&request, &answer("lost")).await.expect("finish");
    assert!(tx.users().insert_if_absent(&ana).await.expect("insert"));
    let (starts, has_ended) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let mut waiting = JoinSet::new();
    waiting.spawn({
        let (store, request) = (Arc::clone(store), request.clone());
        let (starts, has_ended) = (Arc::clone(&starts), Arc::clone(&has_ended));
        async move {
            starts.notify_one();
            let begun = serve(&store, &request, NOW, &answer("kept")).await;
            (begun, has_ended.load(Ordering::SeqCst))
        }
    });
    starts.notified().await;
    // Many more steps than the other would need if it did not wait.
    for _ in 0..100 {
        assert!(tx.users().find(&ana.id).await.expect("find").is_some());
        assert!(waiting.try_join_next().is_none(), "it waits for the end of the other");
    }
    has_ended.store(true, Ordering::SeqCst);
    drop(tx);
    assert_eq!(waiting.join_all().await, [(Begun::First, true)]);
    assert_eq!(serve(store, &request, NOW, &answer("other")).await, Begun::Replay(answer("kept")));
    let mut tx = store.read().await.expect("read");
    assert!(tx.users().find(&ana.id).await.expect("find").is_none());
}

/// After a day a key is new, whatever it was used for.
pub async fn answers_are_kept_for_a_day<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let store = &subject.store;
    let first = request("ana", "k", "one");
    let other = request("ana", "k", "two");
    assert_eq!(serve(store, &first, NOW, &answer("1")).await, Begun::First);
    let end = NOW + KEPT_FOR;
    assert_eq!(serve(store, &first, end, &answer("2")).await, Begun::Replay(answer("1")));
    let after = end + Duration::from_millis(1);
    assert_eq!(serve(store, &other, after, &answer("3")).await, Begun::First);
    assert_eq!(serve(store, &other, after + KEPT_FOR, &answer("4")).await, Begun::Replay(answer("3")));
    assert_eq!(serve(store, &first, after, &answer("5")).await, Begun::OtherRequest);
}

/// A purge takes answers from before the cutoff, and no others.
pub async fn old_answers_are_purged<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: AuthTx,
{
    let store = &subject.store;
    let at = |n: u64| NOW + Duration::from_secs(n);
    for n in 0..5 {
        let request = request("ana", &format!("k{n}"), "digest");
        assert_eq!(serve(store, &request, at(n), &answer("1")).await, Begun::First);
    }
    let mut tx = store.begin().await.expect("begin");
    assert_eq!(tx.idempotency().purge(at(3)).await.expect("purge"), 3);
    tx.commit().await.expect("commit");
    for n in 0..5 {
        let request = request("ana", &format!("k{n}"), "digest");
        let begun = serve(store, &request, at(5), &answer("2")).await;
        assert_eq!(begun, if n < 3 { Begun::First } else { Begun::Replay(answer("1")) });
    }
}
