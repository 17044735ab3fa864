//! Stops and redirects that left the rows of their sessions.

use super::StoreUnderTest;
use super::world::{World, session_id};
use crate::prelude::*;
use crate::session::{
    ChunksWanted, HistoryChunk, HistoryKind, LatestEntries, MAX_ARCHIVED, MAX_HISTORY, Redirect, Session,
    SessionsOf, Stop,
};
use crate::store::Store;
use crate::testkit::store::StoreTx;

/// Twenty of them change their flow now and then.
fn stop(n: usize) -> Stop {
    let id = |text: String| text.parse().expect("an id");
    Stop { flow_id: id(format!("f{}", n / 7)), block_id: format!("b{n}").parse().expect("an id") }
}

fn redirect(n: usize) -> Redirect {
    let Stop { flow_id, block_id } = stop(1_000 + n);
    Redirect { flow_id, block_id, redirect_id: Some(n.to_string()) }
}

/// The whole list of a session, read `limit` entries at a time, oldest first.
async fn read<S: Store>(world: &World<S>, n: usize, kind: HistoryKind, limit: u32) -> Vec<(i64, Stop)>
where
    S::Tx: StoreTx,
{
    let mut tx = world.store.read().await.expect("read");
    let Some(stored) = tx.session_catalog().find(&session_id(n)).await.expect("a session") else {
        return Vec::new();
    };
    let (mut all, mut until) = (Vec::new(), None);
    loop {
        let latest = LatestEntries::of(&stored.session, kind);
        let chunks = match latest.wanted(until, limit) {
            Some(wanted) => {
                let chunks = tx.session_catalog().archived(&session_id(n), kind, wanted).await;
                let chunks = chunks.expect("chunks");
                assert!(chunks.iter().all(|chunk| chunk.kind == kind && chunk.first < wanted.below));
                assert!(chunks.len() <= usize::try_from(wanted.most).expect("few"));
                chunks
            }
            None => Vec::new(),
        };
        let (items, more) = latest.page(chunks, until, limit);
        until = items.last().map(|(number, _)| *number);
        all.extend(items);
        if !more {
            all.reverse();
            return all;
        }
    }
}

async fn chunks<S: Store>(world: &World<S>, n: usize, kind: HistoryKind) -> Vec<HistoryChunk>
where
    S::Tx: StoreTx,
{
    let mut tx = world.store.read().await.expect("read");
    let wanted = ChunksWanted { below: i64::MAX, most: u32::MAX };
    let mut found = tx.session_catalog().archived(&session_id(n), kind, wanted).await.expect("chunks");
    found.sort_unstable_by_key(|chunk| chunk.first);
    found
}

fn numbered(stops: impl Iterator<Item = Stop>) -> Vec<(i64, Stop)> {
    (0..).zip(stops).collect()
}

/// The histories of several sessions are stored by one save, read page by page, and deleted with each of them.
pub async fn histories_are_archived_apart_and_go_with_their_sessions<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut sessions: Vec<Session> = (1..=4).map(|n| world.session(n)).collect();
    // The first save begins them with 45 stops, the others go on with one each.
    for (n, session) in sessions.iter_mut().enumerate() {
        (0..45).for_each(|at| session.push_stop(stop(100 * n + at)));
        (0..22).for_each(|at| session.push_redirect(redirect(100 * n + at)));
    }
    let mut expected: Option<i64> = None;
    for at in 45..=63 {
        let writes: Vec<_> = sessions.iter().map(|session| (session.clone(), expected)).collect();
        world.save(&writes).await.expect("save");
        expected = Some(sessions[0].version);
        for (n, session) in sessions.iter_mut().enumerate() {
            let stored = world.stored(n + 1).await.expect("stored").session;
            session.archive.clear();
            assert_eq!(&stored, session, "{at}");
            session.push_stop(stop(100 * n + at));
            session.version += 1;
        }
    }
    for n in 0..4 {
        for limit in [1, 7, 20, 200] {
            let stops = read(&world, n + 1, HistoryKind::Stop, limit).await;
            assert_eq!(stops, numbered((0..63).map(|at| stop(100 * n + at))), "{n} {limit}");
            let redirects = read(&world, n + 1, HistoryKind::Redirect, limit).await;
            assert_eq!(redirects, numbered((0..22).map(|at| redirect(100 * n + at).stop())), "{n} {limit}");
        }
        assert_eq!(chunks(&world, n + 1, HistoryKind::Stop).await.len(), 3);
        assert_eq!(chunks(&world, n + 1, HistoryKind::Redirect).await.len(), 1);
    }
    // A session that ends leaves nothing to the next one under its id, nor does one of a router that goes.
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().delete_many(&[&session_id(1)]).await.expect("delete");
    tx.commit().await.expect("commit");
    world.save(&[(world.session(1), None)]).await.expect("save");
    assert_eq!(chunks(&world, 1, HistoryKind::Stop).await, []);
    assert_eq!(chunks(&world, 1, HistoryKind::Redirect).await, []);
    assert_eq!(chunks(&world, 2, HistoryKind::Stop).await.len(), 3);
    let mut tx = world.store.begin().await.expect("begin");
    tx.live_sessions().end(SessionsOf::Router(&world.router)).await.expect("ended");
    tx.commit().await.expect("commit");
    for n in 1..=4 {
        assert_eq!(chunks(&world, n, HistoryKind::Stop).await, []);
    }
}

/// A chunk whose session was made to forget it is there once.
pub async fn a_chunk_that_is_stored_again_stands_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut session = world.session(1);
    (0..=MAX_HISTORY).for_each(|n| session.push_stop(stop(n)));
    world.save(&[(session.clone(), None)]).await.expect("save");
    let next = Session { version: session.version + 1, ..session.clone() };
    world.save(&[(next, Some(session.version))]).await.expect("save");
    assert_eq!(chunks(&world, 1, HistoryKind::Stop).await, session.archive);
    // One that is stale stores none.
    (0..MAX_HISTORY).for_each(|n| session.push_stop(stop(n)));
    world.save(&[(session.clone(), Some(session.version))]).await.expect_err("stale");
    assert_eq!(chunks(&world, 1, HistoryKind::Stop).await.len(), 1);
}

/// Beyond the limit a new chunk takes the place of the oldest, of its own list and session only.
pub async fn the_oldest_chunks_of_a_history_are_dropped<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut long = world.session(1);
    let mut short = world.session(2);
    (0..=MAX_HISTORY).for_each(|n| short.push_stop(stop(n)));
    (0..=MAX_HISTORY).for_each(|n| long.push_redirect(redirect(n)));
    let most = usize::try_from(MAX_ARCHIVED).expect("a number");
    (0..most + 50).for_each(|n| long.push_stop(stop(n)));
    world.save(&[(long.clone(), None), (short, None)]).await.expect("save");
    let before = read(&world, 1, HistoryKind::Stop, 200).await;
    assert!(before.len() <= most && before.len() > most - MAX_HISTORY, "{}", before.len());
    long.archive.clear();
    (most + 50..most + 75).for_each(|n| long.push_stop(stop(n)));
    let next = Session { version: long.version + 1, ..long.clone() };
    world.save(&[(next, Some(long.version))]).await.expect("save");
    let after = read(&world, 1, HistoryKind::Stop, 200).await;
    let all = numbered((0..most + 75).map(stop));
    assert!(after.len() <= most && after.len() > most - MAX_HISTORY, "{}", after.len());
    assert!(all.ends_with(&after) && after[0].0 > before[0].0);
    assert_eq!(read(&world, 1, HistoryKind::Redirect, 200).await.len(), MAX_HISTORY + 1);
    assert_eq!(read(&world, 2, HistoryKind::Stop, 200).await.len(), MAX_HISTORY + 1);
}
