//! Sessions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use super::StoreUnderTest;
use super::world::{SIZES, World, as_writes, later, session_id};
use crate::fault::StorageError;
use crate::message::IncomingMessage;
use crate::prelude::*;
use crate::session::{
    AgentState, Call, FrozenError, FrozenSession, HelpdeskState, Mode, Pending, Phase, Position, Redirect,
    Session, SessionId, SessionWrite, Standstill, Stop, StoredSession, Waiting,
};
use crate::store::Store;
use crate::testkit::store::StoreTx;

fn stale(result: Result<(), StorageError>) {
    assert!(matches!(result, Err(StorageError::Stale { .. })), "{result:?}");
}

fn next(session: &Session) -> (Session, Option<i64>) {
    (Session { version: session.version + 1, ..session.clone() }, Some(session.version))
}

/// Everything of a session comes back, when it is new and when it was rewritten.
pub async fn a_session_is_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    assert_eq!(world.stored(1).await, None);
    let first = world.session(1);
    world.save(&[(first.clone(), None)]).await.expect("save");
    assert_eq!(
        world.stored(1).await,
        Some(StoredSession { session: first.clone(), frozen: false, ahead: Vec::new() })
    );
    let stop =
        |block: &str| Stop { flow_id: "f1".parse().expect("an id"), block_id: block.parse().expect("an id") };
    let full = Session {
        version: first.version + 1,
        epoch: 3,
        mode: Mode::Human,
        position: Some(Position {
            flow_id: "f1".parse().expect("an id"),
            version_id: "f1-v1".parse().expect("an id"),
            block_id: Some("b1".parse().expect("an id")),
            waiting: Some(Waiting { retries: 2, deadline: later(5), repositioned: true }),
        }),
        variables: serde_json::Map::from_iter([("ação".to_owned(), json!({ "a": [1, "é👋", null, 0.1] }))]),
        history: vec![stop("b1"), stop("b2")],
        redirects: vec![Redirect {
            flow_id: "f1".parse().expect("an id"),
            block_id: "b3".parse().expect("an id"),
            redirect_id: Some("r1".to_owned()),
        }],
        calls: vec![Call {
            flow_id: "f2".parse().expect("an id"),
            version_id: "f2-v1".parse().expect("an id"),
            block_id: "b4".parse().expect("an id"),
        }],
        agent: Some(Box::new(AgentState::begin("agent1".parse().expect("an id"), 20, later(9)))),
        helpdesk: Some(HelpdeskState { ticket_id: Some("ticket1".parse().expect("an id")) }),
        pending: Some(Box::new(Pending {
            seq: 7,
            phase: Phase::OnLeave,
            action: 2,
            attempt: 1,
            deadline: later(6),
            steps: 3,
            bytes: 9,
            work: 10,
            failed: true,
            input: Some(IncomingMessage::text("m1", "oi 👋")),
        })),
        deferred: vec![IncomingMessage::text("m2", "e aí?")],
        effect_seq: first.effect_seq + 2,
        expiry_timeout: Duration::from_millis(1_500),
        last_interaction_at: later(2),
        wake_at: Some(later(4)),
        ..first.clone()
    };
    let standstill = async || {
        let mut tx = world.store.read().await.expect("read");
        tx.sessions().standstill(&first.id).await.expect("a session")
    };
    let mode = async |id: &SessionId| {
        let mut tx = world.store.read().await.expect("read");
        tx.sessions().mode(id).await.expect("a mode")
    };
    assert_eq!(standstill().await, None);
    world.save(&[(full.clone(), Some(first.version))]).await.expect("save");
    assert_eq!(world.stored(1).await.expect("stored").session, full);
    assert_eq!(standstill().await, Some(Standstill::Outside));
    assert_eq!(mode(&first.id).await, Some(full.mode));
    assert_eq!(mode(&SessionId::parse("wc-c1-nobody").expect("an id")).await, None);
    let mut tx = world.store.begin().await.expect("begin");
    let error = FrozenError { code: "flow_loop".to_owned(), message: "é".to_owned() };
    let frozen = FrozenSession { session_id: first.id.clone(), error, entry: json!({}), frozen_at: later(5) };
    tx.sessions().freeze_many(&[frozen]).await.expect("freeze");
    tx.commit().await.expect("commit");
    assert_eq!(standstill().await, Some(Standstill::Frozen));
}

/// A session is new once: who saves it as new after another must read it.
pub async fn a_new_session_is_saved_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let first = world.session(1);
    world.save(&[(first.clone(), None)]).await.expect("save");
    // Begun in the same millisecond, in the next and long after.
    for step in [0, 1, 60_000] {
        stale(world.save(&[(Session { version: first.version + step, ..first.clone() }, None)]).await);
    }
    assert_eq!(world.stored(1).await.expect("stored").session, first);
}

/// A write goes through only on the version that was read.
pub async fn a_write_on_another_version_is_stale<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let first = world.session(1);
    world.save(&[(first.clone(), None)]).await.expect("save");
    world.save(&[next(&first)]).await.expect("save");
    stale(world.save(&[next(&first)]).await);
    let second = next(&first).0;
    stale(world.save(&[next(&next(&second).0)]).await);
    assert_eq!(world.stored(1).await.expect("stored").session, second);
    world.save(&[next(&second)]).await.expect("save");
}

/// A session that was removed meanwhile does not come back by a write of who had read it.
pub async fn a_write_of_a_removed_session_is_stale<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    stale(world.save(&[next(&world.session(1))]).await);
    assert_eq!(world.stored(1).await, None);
}

/// One stale write among many leaves all of them unwritten.
pub async fn a_stale_write_undoes_its_batch<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut writes: Vec<_> = (1..=150).map(|n| (world.session(n), None)).collect();
    world.save(&writes[..100]).await.expect("save");
    stale(world.save(&writes).await);
    for (session, _) in &mut writes[..100] {
        session.version += 1;
    }
    for (_, expected) in &mut writes[..100] {
        *expected = Some(world.session(0).version);
    }
    writes[70].0.version += 5;
    writes[70].1 = Some(world.session(0).version + 5);
    stale(world.save(&writes).await);
    assert_eq!(world.stored(1).await.expect("stored").session, world.session(1));
    assert_eq!(world.stored(150).await, None);
}

/// Sixteen that each read a session and write it wait for each other, so that none of them is stale.
pub async fn writers_of_one_session_wait_for_each_other<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let first = world.session(1);
    world.save(&[(first.clone(), None)]).await.expect("save");
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let store = Arc::clone(&world.store);
        tasks.spawn(async move {
            let mut tx = store.begin().await.expect("begin");
            let found = tx.sessions().find_many_for_update(&[session_id(1)]).await.expect("find");
            let (session, expected) = next(&found[0].session);
            let write = SessionWrite { session: &session, expected };
            tx.sessions().save_many(&[write]).await.expect("save");
            tx.commit().await.expect("commit");
        });
    }
    tasks.join_all().await;
    assert_eq!(world.stored(1).await.expect("stored").session.version, first.version + 16);
}

/// Sessions that ended are gone; an unknown one among them does no harm.
pub async fn ended_sessions_are_removed<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let writes: Vec<_> = (1..=3).map(|n| (world.session(n), None)).collect();
    world.save(&writes).await.expect("save");
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().delete_many(&[&session_id(1), &session_id(2), &session_id(9)]).await.expect("delete");
    tx.sessions().delete_many(&[]).await.expect("delete nothing");
    tx.commit().await.expect("commit");
    assert_eq!(world.stored(1).await, None);
    assert_eq!(world.stored(3).await.expect("stored").session, world.session(3));
    world.save(&writes[..1]).await.expect("it may begin again");
}

/// Batches of every size are written, found and rewritten.
pub async fn sessions_in_batches_of_any_size<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut from = 0;
    for size in SIZES {
        let numbers: Vec<usize> = (from..from + size).collect();
        from += size;
        let ids: Vec<_> = numbers.iter().map(|&n| session_id(n)).collect();
        let mut tx = world.store.begin().await.expect("begin");
        let new: Vec<_> = numbers.iter().map(|&n| (world.session(n), None)).collect();
        tx.sessions().save_many(&as_writes(&new)).await.expect("save");
        let changed: Vec<_> = new.iter().map(|(session, _)| next(session)).collect();
        tx.sessions().save_many(&as_writes(&changed)).await.expect("save");
        tx.commit().await.expect("commit");
        let mut tx = world.store.begin().await.expect("begin");
        let mut found = tx.sessions().find_many_for_update(&ids).await.expect("find");
        found.sort_unstable_by(|a, b| a.session.id.cmp(&b.session.id));
        assert!(found.iter().map(|stored| &stored.session).eq(changed.iter().map(|(s, _)| s)), "{size}");
    }
}
