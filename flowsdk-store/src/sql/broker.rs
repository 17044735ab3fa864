//! Streams in the database.

use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::{BoxError, StorageError};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::{Broker, BrokerError, Entry, NewEntry, StreamReader};
use flowsdk_core::stream::outbox::Outbox as _;
use flowsdk_core::stream::topic::StreamPartition;

use tokio::sync::watch;

use super::SqlStore;
use super::statement::{Sql, sql, sql_per};

/// How often a reader looks without having been told; it is told of every commit to its stream, see
/// [`SqlStore::follow_commits`].
const POLL: Duration = Duration::from_secs(1);

/// Pauses before another look after a reader was told: on Postgres an entry can be read once every transaction that
/// began before it has ended. On SQLite every reader sees a commit before it is told.
const AGAIN: [Duration; 9] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(16),
    Duration::from_millis(32),
    Duration::from_millis(64),
    Duration::from_millis(128),
    Duration::from_millis(256),
];

/// SQLite has one writer, so `seq` is the order of commits. On Postgres a transaction with a lower
/// `seq` may commit later: only transactions older than every running one are read, ordered by
/// transaction, so that nothing appears behind the reader's place.
pub(super) const READ: Sql = sql_per(
    "SELECT tx, seq, key, payload FROM stream_entry
     WHERE topic = $1 AND part = $2 AND grp = $3 AND (tx, seq) > ($4, $5) ORDER BY tx, seq LIMIT $6",
    "SELECT tx, seq, key, payload FROM stream_entry
     WHERE topic = $1 AND part = $2 AND grp = $3 AND (tx, seq) > ($4, $5)
       AND tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
     ORDER BY tx, seq LIMIT $6",
);

/// What is left of these transactions and later ones, in the order of the inserts, with the oldest transaction that may
/// still run. A transaction that builds on another one saw its commit, so its entries have higher numbers, and whoever
/// sees them sees those of the other one too.
pub(super) const READ_LEFT: Sql = sql_per(
    "SELECT 0, seq, key, payload FROM stream_entry
     WHERE topic = $1 AND part = $2 AND grp = $3 AND tx >= $4 ORDER BY seq LIMIT $5",
    // The sum keeps Postgres from walking the primary key, where it passes over everything acknowledged.
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, seq, key, payload FROM stream_entry
     WHERE topic = $1 AND part = $2 AND grp = $3 AND tx >= $4 ORDER BY seq + 0 LIMIT $5",
);

/// `IS TRUE` keeps the group out of the choice of an index: the number alone finds the row.
///
/// On Postgres the commit does not wait for the disk. An acknowledgement that is lost with the server makes its entries
/// come again, as after the loss of a reader.
pub(super) const ACK: Sql = sql_per(
    "DELETE FROM stream_entry WHERE seq IN (SELECT value FROM json_each($1)) AND grp = $2",
    "WITH soon AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
     DELETE FROM stream_entry USING soon
     WHERE seq = ANY(ARRAY(SELECT value::bigint FROM jsonb_array_elements_text($1)))
        AND (grp = $2) IS TRUE",
);

const BACKLOG: Sql = sql("SELECT COUNT(*) FROM stream_entry WHERE topic = $1 AND part = $2 AND grp = $3");

super::statement::statements! { READ, READ_LEFT, ACK, BACKLOG }

/// The database as a broker.
#[derive(Debug, Clone)]
pub struct SqlBroker {
    store: SqlStore,
    first: Place,
}

impl SqlBroker {
    /// A broker over `store`, whose [`OutboxRoutes`](super::OutboxRoutes) say which groups there are.
    pub fn new(store: SqlStore) -> Self {
        Self { store, first: Place::Behind(i64::MIN, i64::MIN) }
    }

    /// The same for readers that acknowledge everything they have read before they read on, such as a relay. They get
    /// an entry as soon as it is committed, where the readers of [`new`](Self::new) wait on Postgres for the end of
    /// every older transaction. Entries that they have not acknowledged come again to the next reader, and to the same one
    /// after a second without new ones.
    pub fn outbox(store: SqlStore) -> Self {
        Self { store, first: Place::Left(i64::MIN) }
    }
}

fn unavailable(error: StorageError) -> BrokerError {
    BrokerError::Unavailable(Box::new(error) as BoxError)
}

#[async_trait]
impl Broker for SqlBroker {
    fn partitions(&self) -> u32 {
        self.store.routes().partitions()
    }

    async fn publish(&self, entries: &[NewEntry]) -> Result<(), BrokerError> {
        let mut tx = self.store.begin().await.map_err(unavailable)?;
        tx.push_many(entries).await.map_err(unavailable)?;
        tx.commit().await.map_err(unavailable)
    }

    async fn open(
        &self,
        stream: StreamPartition,
        group: &str,
        _consumer: &str,
    ) -> Result<Box<dyn StreamReader>, BrokerError> {
        Ok(Box::new(SqlReader {
            store: self.store.clone(),
            stream,
            group: group.to_owned(),
            place: self.first,
            commits: self.store.published().follow(stream.topic),
            looks: self.store.looks(self.first),
        }))
    }

    async fn ack(&self, _stream: StreamPartition, group: &str, ids: &[String]) -> Result<(), BrokerError> {
        let ids: Vec<i64> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        let mut tx = self.store.begin_single().await.map_err(unavailable)?;
        tx.conn.execute(ACK, (Json(&ids), group)).await.map_err(unavailable)?;
        tx.commit().await.map_err(unavailable)
    }

    async fn backlog(&self, stream: StreamPartition, group: &str) -> Result<u64, BrokerError> {
        let mut tx = self.store.read().await.map_err(unavailable)?;
        let (count,) = tx
            .conn
            .fetch_optional::<(i64,)>(BACKLOG, (stream.topic.name(), i64::from(stream.index), group))
            .await
            .map_err(unavailable)?
            .unwrap_or((0,));
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

/// Where a reader reads on.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Behind an entry, of which this is the transaction and the number.
    Behind(i64, i64),
    /// At the oldest entry that is left. Nothing is left of transactions before this one. Were they looked through
    /// again, each look would pass over what was acknowledged in them until Postgres has cleared it away.
    Left(i64),
}

/// Reads on from its place; unacknowledged entries are still there for the next reader.
#[derive(Debug)]
struct SqlReader {
    store: SqlStore,
    stream: StreamPartition,
    group: String,
    place: Place,
    /// Commits to the stream.
    commits: watch::Receiver<()>,
    /// The pauses before the looks that are left.
    looks: std::slice::Iter<'static, Duration>,
}

impl SqlStore {
    /// Returns the pauses before looks for entries that can be read later than their commit.
    fn looks(&self, place: Place) -> std::slice::Iter<'static, Duration> {
        let sees_late = matches!(place, Place::Behind(..)) && self.postgres().is_some();
        if sees_late { AGAIN.iter() } else { [].iter() }
    }
}

impl SqlReader {
    async fn read_now(&mut self, count: usize) -> Result<Vec<Entry>, BrokerError> {
        type Row = (i64, i64, String, String);
        let mut tx = self.store.read_single().await.map_err(unavailable)?;
        let (topic, part) = (self.stream.topic.name(), i64::from(self.stream.index));
        let (group, limit) = (self.group.as_str(), i64::try_from(count).unwrap_or(i64::MAX));
        let rows = match self.place {
            Place::Behind(xid, seq) => {
                tx.conn.fetch_all::<Row>(READ, (topic, part, group, xid, seq, limit)).await
            }
            Place::Left(oldest) => {
                tx.conn.fetch_all::<Row>(READ_LEFT, (topic, part, group, oldest, limit)).await
            }
        };
        let rows = rows.map_err(unavailable)?;
        match (self.place, rows.last()) {
            (Place::Behind(..), Some(&(xid, seq, ..))) => self.place = Place::Behind(xid, seq),
            // All of older transactions was read, and is acknowledged before the next look.
            (Place::Left(_), Some(&(oldest, ..))) if rows.len() < count => self.place = Place::Left(oldest),
            _ => {}
        }
        Ok(rows
            .into_iter()
            .map(|(_, seq, key, payload)| Entry { id: seq.to_string(), key, payload })
            .collect())
    }
}

#[async_trait]
impl StreamReader for SqlReader {
    async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError> {
        let give_up = tokio::time::sleep(wait);
        tokio::pin!(give_up);
        loop {
            // Before the look, so that a commit in between is not missed.
            if self.commits.has_changed().unwrap_or(false) {
                self.commits.mark_unchanged();
                self.looks = self.store.looks(self.place);
            }
            let entries = self.read_now(count).await?;
            if !entries.is_empty() {
                return Ok(entries);
            }
            let pause = self.looks.next().copied().unwrap_or(POLL);
            tokio::select! {
                () = &mut give_up => return Ok(entries),
                // The store, which tells, lives as long as its reader.
                _ = self.commits.changed() => self.looks = self.store.looks(self.place),
                () = tokio::time::sleep(pause) => {
                    // A crash of the server can undo acknowledgements, see `ACK`.
                    if matches!(self.place, Place::Left(_)) {
                        self.place = Place::Left(i64::MIN);
                    }
                }
            }
        }
    }
}
