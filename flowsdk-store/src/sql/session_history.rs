//! The stops and redirects that left the row of their session: a chunk a row.
//!
//! They go with their session by a foreign key, so that a process of an earlier version, which does not know of them,
//! leaves none behind.

use std::collections::HashMap;

use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::{
    ChunksWanted, HistoryChunk, HistoryKind, LatestEntries, Session, SessionId, Stop, StoredSession,
    entries_before,
};
use serde::{Deserialize, Serialize};

use super::bind::Binder;
use super::executor::Conn;
use super::row::{Cells, Row};
use super::session::{SessionRow, stops};
use super::statement::{RowsSql, Sql, sql, sql_list};

const COLUMNS: &str = "session_id, kind, first_number, entries";

/// The value of `session_history.entries`.
#[derive(Deserialize)]
struct Entries(#[serde(deserialize_with = "stops::read")] Vec<Stop>);

/// The same, borrowed for writing.
#[derive(Serialize)]
struct EntriesRef<'a>(#[serde(serialize_with = "stops::write")] &'a [Stop]);

/// A chunk with its session.
struct ChunkRow {
    session_id: SessionId,
    chunk: HistoryChunk,
}

impl Row for ChunkRow {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        const TABLE: &str = "session_history";
        let session_id = cells.of(TABLE, "session_id")?;
        let kind = cells.of(TABLE, "kind")?;
        let first = cells.of(TABLE, "first_number")?;
        let Entries(entries) = cells.json(TABLE, "entries")?;
        Ok(Self { session_id, chunk: HistoryChunk { kind, first, entries } })
    }
}

/// A chunk is written again where a process of an earlier version made the row of its session forget that it is there.
static STORE: RowsSql = RowsSql::new(
    concat!("INSERT INTO session_history (", COLUMNS, ") VALUES "),
    4,
    " ON CONFLICT (session_id, kind, first_number) DO UPDATE SET entries = excluded.entries",
);

static DROP: RowsSql = RowsSql::typed(
    "WITH old (session_id, kind, below) AS (VALUES ",
    &["text", "text", "bigint"],
    ") DELETE FROM session_history USING old
     WHERE session_history.session_id = old.session_id AND session_history.kind = old.kind
       AND session_history.first_number < old.below",
)
.or_one_by_one("DELETE FROM session_history WHERE session_id = ?1 AND kind = ?2 AND first_number < ?3");

pub(super) const CHUNKS: Sql = sql(concat!(
    "SELECT ",
    COLUMNS,
    " FROM session_history WHERE session_id = $1 AND kind = $2 AND first_number < $3
     ORDER BY first_number DESC LIMIT $4"
));

/// The last chunk of each list of sessions.
pub(super) const LAST: Sql = sql_list!(
    concat!("SELECT ", COLUMNS, " FROM session_history AS chunk WHERE session_id "),
    "$1",
    " AND first_number = (SELECT MAX(first_number) FROM session_history AS last
                          WHERE last.session_id = chunk.session_id AND last.kind = chunk.kind)"
);

super::statement::statements! { CHUNKS, LAST; STORE, DROP }

impl Conn {
    /// Stores the chunks of all these sessions together, and drops those that are too old.
    pub(super) async fn archive(
        &mut self,
        sessions: impl Iterator<Item = &Session>,
    ) -> Result<(), StorageError> {
        let chunks: Vec<(&SessionId, &HistoryChunk)> =
            sessions.flat_map(|session| session.archive.iter().map(|chunk| (&session.id, chunk))).collect();
        let bind = |to: &mut Binder<'_>, (session, chunk): &(&SessionId, &HistoryChunk)| {
            let entries = Json(EntriesRef(&chunk.entries));
            to.bind(*session).bind(&chunk.kind).bind(chunk.first).bind(entries);
        };
        self.execute_rows(&STORE, &chunks, bind).await?;
        let below =
            |(session, chunk): &(_, &HistoryChunk)| Some((*session, chunk.kind, chunk.drops_below()?));
        let old: Vec<(&SessionId, HistoryKind, i64)> = chunks.iter().filter_map(below).collect();
        let bind = |to: &mut Binder<'_>, (session, kind, below): &(&SessionId, HistoryKind, i64)| {
            to.bind(*session).bind(kind).bind(*below);
        };
        self.execute_rows(&DROP, &old, bind).await.map(drop)
    }

    /// Returns sessions that were read. Where a process of an earlier version wrote a full list, and did not count the entries before
    /// it, the last chunk tells their number.
    pub(super) async fn counted(
        &mut self,
        rows: Vec<SessionRow>,
    ) -> Result<Vec<StoredSession>, StorageError> {
        let uncounted = rows.iter().filter(|row| !row.uncounted.is_empty());
        let ids: Vec<&SessionId> = uncounted.map(|row| &row.stored.session.id).collect();
        let mut last = HashMap::new();
        if !ids.is_empty() {
            let rows: Vec<ChunkRow> = self.fetch_all(LAST, (Json(&ids),)).await?;
            last.extend(rows.into_iter().map(|row| ((row.session_id, row.chunk.kind), row.chunk)));
        }
        let counted = |SessionRow { mut stored, uncounted }: SessionRow| {
            for kind in uncounted {
                let session = &mut stored.session;
                let latest = LatestEntries::of(session, kind).entries;
                let before = entries_before(&latest, last.get(&(session.id.clone(), kind)));
                match kind {
                    HistoryKind::Stop => session.stops_before = before,
                    HistoryKind::Redirect => session.redirects_before = before,
                }
            }
            stored
        };
        Ok(rows.into_iter().map(counted).collect())
    }

    /// Returns chunks of a list of a session, the newest first.
    pub(super) async fn chunks(
        &mut self,
        session: &SessionId,
        kind: HistoryKind,
        wanted: ChunksWanted,
    ) -> Result<Vec<HistoryChunk>, StorageError> {
        let binds = (session, &kind, wanted.below, i64::from(wanted.most));
        let rows: Vec<ChunkRow> = self.fetch_all(CHUNKS, binds).await?;
        Ok(rows.into_iter().map(|row| row.chunk).collect())
    }
}
