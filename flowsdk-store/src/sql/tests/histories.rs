//! Sessions that processes of an earlier version write too, during a rolling upgrade: they do not count the entries
//! before those of the row, and drop the count that stands there.

use flowsdk_core::id::RouterId;
use flowsdk_core::prelude::*;
use flowsdk_core::session::{
    ChunksWanted, HistoryKind, LatestEntries, MAX_HISTORY, Redirect, Session, SessionId, SessionWrite, Stop,
};
use flowsdk_core::time::Timestamp;

use crate::sql::statement::{Sql, sql_per};
use crate::sql::{OutboxRoutes, SqlStore};

/// The effect of a write by an older process on what it does not know.
const UNCOUNT: Sql = sql_per(
    "UPDATE session SET state = json_remove(state, '$.stopsBefore', '$.redirectsBefore')",
    "UPDATE session SET state = state - 'stopsBefore' - 'redirectsBefore'",
);

const STATES: Sql =
    sql_per("SELECT state FROM session ORDER BY id", "SELECT state::text FROM session ORDER BY id");

fn stop(n: usize) -> Stop {
    Stop { flow_id: "f".parse().expect("an id"), block_id: format!("b{n}").parse().expect("an id") }
}

fn id(n: usize) -> SessionId {
    SessionId::parse(format!("wc-c1-v{n}")).expect("an id")
}

struct World(SqlStore);

impl World {
    async fn begin(url: &str) -> Self {
        let url = url.parse().expect("an address");
        let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
        let world = Self(store);
        let router = RouterId::parse("r1").expect("an id");
        let new = |n| {
            let [contact, chat] = ["c", "h"];
            let (contact, chat) = (contact.parse().expect("an id"), chat.parse().expect("an id"));
            Session::begin(id(n), router.clone(), contact, chat, Timestamp::from_millis(7))
        };
        let sessions: Vec<_> = (0..3).map(new).collect();
        let writes: Vec<_> =
            sessions.iter().map(|session| SessionWrite { session, expected: None }).collect();
        let mut tx = world.0.begin().await.expect("begin");
        tx.sessions().save_many(&writes).await.expect("save");
        tx.commit().await.expect("commit");
        world
    }

    /// A turn of every session that pushes stops, and as many redirects.
    async fn turn(&self, pushed: std::ops::Range<usize>, is_old: bool) {
        let mut tx = self.0.begin().await.expect("begin");
        let found = tx.sessions().find_many_for_update(&[id(0), id(1), id(2)]).await.expect("sessions");
        let mut sessions: Vec<Session> = found.into_iter().map(|stored| stored.session).collect();
        for session in &mut sessions {
            session.version += 1;
            for n in pushed.clone() {
                let Stop { flow_id, block_id } = stop(n);
                session.push_redirect(Redirect { flow_id, block_id, redirect_id: None });
                session.push_stop(stop(n));
            }
            if is_old {
                session.archive.clear();
            }
        }
        let writes: Vec<_> = sessions
            .iter()
            .map(|session| SessionWrite { session, expected: Some(session.version - 1) })
            .collect();
        tx.sessions().save_many(&writes).await.expect("save");
        if is_old {
            tx.conn.execute(UNCOUNT, ()).await.expect("uncounted");
        }
        tx.commit().await.expect("commit");
    }

    /// The blocks of a list, oldest first, and the number of the first one.
    async fn shown(&self, n: usize, kind: HistoryKind) -> (i64, Vec<usize>) {
        let mut tx = self.0.read().await.expect("read");
        let session = tx.session_catalog().find(&id(n)).await.expect("read").expect("a session").session;
        let wanted = ChunksWanted { below: i64::MAX, most: 1_000 };
        let chunks = tx.session_catalog().archived(&id(n), kind, wanted).await.expect("chunks");
        let (mut items, _) = LatestEntries::of(&session, kind).page(chunks, None, 10_000);
        items.reverse();
        let number = |stop: &Stop| stop.block_id.as_str()[1..].parse().expect("a number");
        (items[0].0, items.iter().map(|(_, stop)| number(stop)).collect())
    }

    async fn shows(&self, expected: impl IntoIterator<Item = usize>) {
        let expected: Vec<usize> = expected.into_iter().collect();
        for n in 0..3 {
            for kind in [HistoryKind::Stop, HistoryKind::Redirect] {
                assert_eq!(self.shown(n, kind).await, (0, expected.clone()), "{n} {kind:?}");
            }
        }
    }

    async fn states(&self) -> Vec<serde_json::Value> {
        let mut tx = self.0.read().await.expect("read");
        let states: Vec<String> = tx.conn.fetch_column(STATES, ()).await.expect("states");
        states.iter().map(|state| serde_json::from_str(state).expect("JSON")).collect()
    }
}

async fn an_upgrade(url: &str) {
    let world = World::begin(url).await;
    // Only older processes: the row has the last 20.
    for n in 0..30 {
        world.turn(n..n + 1, true).await;
    }
    world.shows(10..30).await;
    // The count is written as soon as one of this version writes.
    world.turn(30..31, false).await;
    world.shows(10..31).await;
    assert!(world.states().await.iter().all(|state| state["stopsBefore"] == 1));
    // Both in turns: an entry is missing only where an older process let it fall out of the row before it was archived.
    let mut old = 0;
    for n in 31..200 {
        let is_old = (n / 10) % 2 == 0 || n % 3 == 0;
        old += usize::from(is_old);
        world.turn(n..n + 1, is_old).await;
        for kind in [HistoryKind::Stop, HistoryKind::Redirect] {
            let (first, shown) = world.shown(n % 3, kind).await;
            assert_eq!((first, shown[0]), (0, 10), "{n}");
            assert!(shown.windows(2).all(|pair| pair[0] < pair[1]), "{n}: {shown:?}");
            assert!(shown.ends_with(&(n - 19..=n).collect::<Vec<_>>()), "{n}: {shown:?}");
            assert!(shown.len() + old >= n - 9, "{n}: {shown:?}");
        }
    }
    // Whatever is archived stays, however much an older process lets fall out of the row.
    let shown = world.shown(0, HistoryKind::Stop).await.1;
    let archived = &shown[..shown.len() - MAX_HISTORY];
    world.turn(200..240, true).await;
    world.turn(240..243, false).await;
    let after = world.shown(0, HistoryKind::Stop).await.1;
    assert!(after.starts_with(archived), "{after:?}");
    assert!(after.ends_with(&(220..243).collect::<Vec<_>>()), "{after:?}");
    assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "{after:?}");
    // An older process reads the row: it knows each field, and ignores the count.
    let state = world.states().await.remove(0);
    let blocks: usize = state["history"]
        .as_array()
        .expect("stays")
        .iter()
        .map(|stay| stay.as_array().expect("a stay").len() - 1)
        .sum();
    assert_eq!((blocks, state["redirects"].as_array().expect("redirects").len()), (MAX_HISTORY, MAX_HISTORY));
}

#[tokio::test]
async fn no_stop_comes_twice_where_older_processes_write_too() {
    an_upgrade("sqlite::memory:").await;
    match super::new_postgres().await {
        Some(server) => an_upgrade(&server).await,
        None => super::skipped("no_stop_comes_twice_where_older_processes_write_too"),
    }
}
