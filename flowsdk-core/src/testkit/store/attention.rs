//! Sessions that somebody must look at: those that are due, and those that are frozen, with the entries kept for
//! them.

use serde_json::json;

use super::StoreUnderTest;
use super::world::{World, later, session_id};
use crate::prelude::*;
use crate::session::{FrozenError, FrozenSession, MAX_KEPT, Session};
use crate::store::Store;
use crate::testkit::store::StoreTx;
use crate::time::Timestamp;

fn frozen(n: usize, code: &str) -> FrozenSession {
    FrozenSession {
        session_id: session_id(n),
        error: FrozenError { code: code.to_owned(), message: "Ação 👋".to_owned() },
        entry: json!({ "kind": "message", "text": "é" }),
        frozen_at: later(0),
    }
}

/// Sessions whose moment has come, oldest first, no more than asked; frozen ones have nothing to be rung for.
pub async fn due_sessions_come_oldest_first<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let at = |n: usize, wake_at: Option<Timestamp>| (Session { wake_at, ..world.session(n) }, None);
    world
        .save(&[
            at(1, Some(later(30))),
            at(2, Some(later(10))),
            at(3, Some(later(20))),
            at(4, None),
            at(5, Some(later(31))),
            at(6, Some(later(5))),
        ])
        .await
        .expect("save");
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().freeze_many(&[frozen(6, "flow_loop")]).await.expect("freeze");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    for (now, limit, expected) in [(30, 10, &[2, 3, 1][..]), (30, 2, &[2, 3]), (10, 10, &[2]), (9, 10, &[])] {
        let due = tx.sessions().due(later(0), None, later(now), limit).await.expect("due");
        let due: Vec<_> = due.into_iter().map(|(_, id)| id).collect();
        assert_eq!(due, expected.iter().map(|&n| session_id(n)).collect::<Vec<_>>(), "{now} {limit}");
    }
    let first = tx.sessions().due(later(0), None, later(30), 1).await.expect("due").remove(0);
    assert_eq!(first, (later(10), session_id(2)));
    let next = tx.sessions().due(first.0, Some(&first.1), later(30), 10).await.expect("due");
    assert_eq!(next, [(later(20), session_id(3)), (later(30), session_id(1))]);
    let from = tx.sessions().due(later(20), None, later(29), 10).await.expect("due");
    assert_eq!(from, [(later(20), session_id(3))]);
}

/// Of hundreds that freeze at once, one of them twice, each keeps its first cause, and its entries come back in
/// order.
pub async fn many_freeze_at_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let mut many: Vec<_> = (0..203).map(|n| frozen(n, "flow_loop")).collect();
    tx.sessions().freeze_many(&many[..2]).await.expect("freeze");
    let again = (0..4).map(|n| frozen(n, "poison_entry"));
    tx.sessions()
        .freeze_many(&again.chain(many[2..].iter().cloned()).collect::<Vec<_>>())
        .await
        .expect("freeze");
    many[2..4].clone_from_slice(&[frozen(2, "poison_entry"), frozen(3, "poison_entry")]);
    let kept: Vec<_> = (0..406).map(|n| (session_id(n % 203), json!({ "n": n, "text": "é👋" }))).collect();
    tx.sessions().keep_entries(&kept, MAX_KEPT).await.expect("keep");
    tx.sessions().freeze_many(&[]).await.expect("freeze nothing");
    tx.sessions().keep_entries(&[], MAX_KEPT).await.expect("keep nothing");
    tx.commit().await.expect("commit");
    let mut tx = world.store.begin().await.expect("begin");
    for (n, expected) in many.into_iter().enumerate() {
        assert_eq!(tx.sessions().take_frozen(&session_id(n)).await.expect("take"), Some(expected));
        for (_, expected) in [&kept[n], &kept[n + 203]] {
            assert_eq!(tx.sessions().take_kept(&session_id(n)).await.expect("take").as_ref(), Some(expected));
        }
        assert_eq!(tx.sessions().take_kept(&session_id(n)).await.expect("take"), None);
    }
}

/// A failed entry of a session that is frozen already is kept behind the waiting ones, once.
pub async fn a_frozen_session_keeps_what_fails_later<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let failed = |n: usize, entry: &str| FrozenSession { entry: json!({ "id": entry }), ..frozen(n, "x") };
    let calls = [
        vec![failed(1, "a"), failed(2, "a"), failed(2, "b"), failed(2, "c")],
        vec![failed(3, "a"), failed(1, "b")],
        // Unacknowledged entries come again.
        vec![failed(1, "a"), failed(1, "b"), failed(3, "a"), failed(1, "c")],
    ];
    for call in calls {
        let mut tx = world.store.begin().await.expect("begin");
        tx.sessions().freeze_many(&call).await.expect("freeze");
        tx.sessions().keep_entries(&[(session_id(1), json!("between"))], MAX_KEPT).await.expect("keep");
        tx.commit().await.expect("commit");
    }
    let mut tx = world.store.begin().await.expect("begin");
    let (b, c, between) = (json!({ "id": "b" }), json!({ "id": "c" }), json!("between"));
    let one = vec![between.clone(), b.clone(), between.clone(), c.clone(), between];
    for (n, kept) in [(1, one), (2, vec![b, c]), (3, Vec::new())] {
        assert_eq!(tx.sessions().take_frozen(&session_id(n)).await.expect("take"), Some(failed(n, "a")));
        for entry in kept.into_iter().map(Some).chain([None]) {
            assert_eq!(tx.sessions().take_kept(&session_id(n)).await.expect("take"), entry, "{n}");
        }
    }
}

/// A bounded number of entries is kept for a session, however they come; the failed entry is kept all the same.
pub async fn so_many_entries_are_kept<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let most = MAX_KEPT as usize;
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().freeze_many(&[frozen(1, "flow_loop"), frozen(2, "flow_loop")]).await.expect("freeze");
    let mut entries: Vec<_> = (0..most + 5).map(|n| (session_id(1), json!(n))).collect();
    entries.insert(most + 3, (session_id(2), json!("of another")));
    assert_eq!(tx.sessions().keep_entries(&entries, MAX_KEPT).await.expect("keep"), 5);
    let more = [(session_id(1), json!("late")), (session_id(2), json!("in time"))];
    assert_eq!(tx.sessions().keep_entries(&more, MAX_KEPT).await.expect("keep"), 1);
    let failed = FrozenSession { entry: json!("failed"), ..frozen(1, "poison_entry") };
    tx.sessions().freeze_many(&[failed]).await.expect("keep");
    tx.commit().await.expect("commit");
    let mut tx = world.store.begin().await.expect("begin");
    for expected in (0..most).map(|n| json!(n)).chain([json!("failed")]).map(Some).chain([None]) {
        assert_eq!(tx.sessions().take_kept(&session_id(1)).await.expect("take"), expected);
    }
    for expected in [Some(json!("of another")), Some(json!("in time")), None] {
        assert_eq!(tx.sessions().take_kept(&session_id(2)).await.expect("take"), expected);
    }
    assert_eq!(tx.sessions().keep_entries(&more, MAX_KEPT).await.expect("keep"), 0, "there is room again");
}

/// A frozen session is found as such, whether it has a row or not; freezing it twice with one entry is one freeze.
pub async fn frozen_sessions_are_known<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    world.save(&[(world.session(1), None), (world.session(2), None)]).await.expect("save");
    let ids: Vec<_> = (1..=4).map(session_id).collect();
    for code in ["flow_loop", "poison_entry"] {
        let mut tx = world.store.begin().await.expect("begin");
        tx.sessions().freeze_many(&[frozen(1, code), frozen(3, code)]).await.expect("freeze");
        tx.commit().await.expect("commit");
        let mut tx = world.store.begin().await.expect("begin");
        let mut found = tx.sessions().frozen_among(&ids).await.expect("frozen");
        found.sort_unstable();
        assert_eq!(found, [session_id(1), session_id(3)]);
        assert_eq!(tx.sessions().frozen_among(&ids[1..2]).await.expect("frozen"), []);
        let found = tx.sessions().find_many_for_update(&ids).await.expect("find");
        let flags: Vec<_> = found.into_iter().map(|stored| (stored.session.id, stored.frozen)).collect();
        assert_eq!(flags, [(session_id(1), true), (session_id(2), false)]);
    }
}
