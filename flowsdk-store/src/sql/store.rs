//! Connections and transactions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::contact::ContactNews;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::{Records, Store, Transaction};
use flowsdk_core::stream::topic::TopicName;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, PgPool, SqliteConnection, SqlitePool};

use super::announced::Announced;
use super::damage::Damage;
use super::executor::{Conn, PostgresConn, storage_error};
use super::generation::Generations;
use super::postgres_tx::PostgresTx;
use super::published::{self, Published};
use super::pulse::Pulse;
use super::sqlite::{Glances, Writer};
use super::url::{DatabaseUrl, Synchronous};
use super::vectors::{self, Vectors};
use super::{OutboxRoutes, listener, migrations, private};

/// Read connections of SQLite.
const SQLITE_READERS: u32 = 4;
/// Contacts made findable in one transaction.
const WORDS_AT_ONCE: i64 = 1_000;
/// How long a statement waits for a lock or a connection.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
enum Pools {
    File {
        writer: Writer,
        readers: SqlitePool,
        glances: Glances,
        damage: Damage,
        generations: Arc<Generations>,
    },
    /// One connection for everything: another one would be another database.
    Memory {
        writer: Writer,
        generations: Arc<Generations>,
    },
    Postgres {
        pool: PgPool,
        readers: PgPool,
        pulse: Pulse,
    },
}

/// A database of either engine. Clones share the connections.
#[derive(Debug, Clone)]
pub struct SqlStore {
    pools: Pools,
    routes: Arc<OutboxRoutes>,
    published: Arc<Published>,
    announced: Arc<Announced>,
    /// Where there is pgvector.
    vectors: Option<Vectors>,
    cx: OpContext,
}

impl SqlStore {
    /// Connects, creating a SQLite file that is not there, and brings the schema up to date.
    pub async fn connect(url: &DatabaseUrl, routes: OutboxRoutes) -> Result<Self, StorageError> {
        let pools = match url {
            DatabaseUrl::SqliteFile { path, synchronous } => sqlite_file(path, *synchronous).await?,
            DatabaseUrl::SqliteMemory => sqlite_memory()?,
            DatabaseUrl::Postgres(options) => postgres((**options).clone()).await?,
        };
        Self::over(pools, routes).await
    }

    async fn over(pools: Pools, routes: OutboxRoutes) -> Result<Self, StorageError> {
        let mut vectors = None;
        if let Pools::Postgres { pool, .. } = &pools {
            let migrated = migrations::postgres().run(pool).await;
            migrated.map_err(|error| StorageError::Other(Box::new(error)))?;
            vectors = vectors::prepare(pool).await?;
        }
        let store = Self {
            pools,
            routes: Arc::new(routes),
            published: Arc::new(Published::new()),
            announced: Arc::default(),
            vectors,
            cx: OpContext::system(),
        };
        store.add_missing_words().await?;
        Ok(store)
    }

    /// Works on the connections of `pool`, and brings the schema up to date. Tables are made in the first schema of the
    /// search path, and migrations are recorded there in `_sqlx_migrations`: give the pool a schema of its own if the
    /// caller's tables are migrated by sqlx too. `jit = off` and `enable_seqscan = off` on its connections keep plans good
    /// that were made for empty tables.
    ///
    /// # Errors
    /// The schema cannot be brought up to date.
    pub async fn on_pool(pool: PgPool, routes: OutboxRoutes) -> Result<Self, StorageError> {
        let pools = Pools::Postgres { readers: pool.clone(), pool, pulse: Pulse::default() };
        Self::over(pools, routes).await
    }

    /// The same connections, with other readers of its streams.
    #[must_use]
    pub fn with_routes(&self, routes: OutboxRoutes) -> Self {
        Self { routes: Arc::new(routes), ..self.clone() }
    }

    /// The same connections, with the time and ids of its events.
    #[must_use]
    pub fn with_context(&self, cx: OpContext) -> Self {
        Self { cx, ..self.clone() }
    }

    /// The same connections. Routers with so many passages of one model have an index of their vectors, where the database
    /// has pgvector; otherwise those with 10,000.
    #[must_use]
    pub fn with_vectors_indexed_from(&self, passages: u32) -> Self {
        let vectors = self.vectors.map(|_| Vectors { indexed_from: passages });
        Self { vectors, ..self.clone() }
    }

    /// Makes contacts findable that were stored before there was a search: SQL cannot do that in a migration.
    async fn add_missing_words(&self) -> Result<(), StorageError> {
        loop {
            let mut tx = self.begin().await?;
            let some = tx.add_missing_words(WORDS_AT_ONCE).await?;
            tx.commit().await?;
            if !some {
                return Ok(());
            }
        }
    }

    /// How many write transactions can make progress at once.
    pub fn writers(&self) -> usize {
        match self.pools {
            Pools::File { .. } | Pools::Memory { .. } => 1,
            Pools::Postgres { .. } => 4,
        }
    }

    /// Moves the pages of the write-ahead log into the database file, as far as no reader needs it; an
    /// idempotent tick, and nothing on Postgres, or when nothing was committed since.
    ///
    /// It runs beside the writer. Under a load that never pauses the log would grow for ever that way, so a
    /// large one is finished on the write connection, where there is next to nothing left to move; the
    /// log then begins anew.
    pub async fn checkpoint(&self) -> Result<(), StorageError> {
        let Pools::File { writer, readers, .. } = &self.pools else {
            return Ok(());
        };
        if self.check_damage().is_err() || !writer.take_logged() {
            return Ok(());
        }
        let done: Result<(i64, i64, i64), _> = sqlx::query_as(PASSIVE_CHECKPOINT).fetch_one(readers).await;
        match done {
            Ok((_, log, moved)) => {
                if moved < log {
                    writer.note_logged();
                }
                if log > LARGE_LOG_PAGES {
                    writer.pause_for(PASSIVE_CHECKPOINT).await?;
                }
                Ok(())
            }
            Err(error) => {
                writer.note_logged();
                Err(storage_error(error))
            }
        }
    }

    /// Returns whether the database answers. A file whose last commit the disk refused must take one.
    pub async fn ping(&self) -> Result<(), StorageError> {
        self.check_damage()?;
        match &self.pools {
            Pools::File { writer, readers, .. } => {
                writer.try_again(PROBE).await?;
                sqlx::query("SELECT 1").execute(readers).await.map(drop)
            }
            Pools::Memory { writer, .. } => return writer.begin().await.map(drop),
            Pools::Postgres { pool, .. } => sqlx::query("SELECT 1").execute(pool).await.map(drop),
        }
        .map_err(storage_error)
    }

    fn check_damage(&self) -> Result<(), StorageError> {
        match &self.pools {
            Pools::File { damage, .. } => damage.check(),
            Pools::Memory { .. } | Pools::Postgres { .. } => Ok(()),
        }
    }

    /// Waits until a statement meets damage in the file of the database. From then on every transaction is refused
    /// with [`StorageError::Damaged`]. Another engine keeps watch over its files by itself.
    pub async fn damaged(&self) {
        match &self.pools {
            Pools::File { damage, .. } => damage.met().await,
            Pools::Memory { .. } | Pools::Postgres { .. } => std::future::pending().await,
        }
    }

    /// Closes every connection of the store.
    pub async fn close(&self) {
        match &self.pools {
            Pools::File { writer, readers, glances, .. } => {
                readers.close().await;
                glances.close().await;
                writer.close().await;
            }
            Pools::Memory { writer, .. } => writer.close().await,
            Pools::Postgres { pool, readers, .. } => {
                readers.close().await;
                pool.close().await;
            }
        }
    }

    /// The connections to Postgres, if that is the engine.
    pub(super) fn postgres(&self) -> Option<&PgPool> {
        self.server().map(|(pool, _)| pool)
    }

    /// The same, and whether the server answers.
    pub(super) fn server(&self) -> Option<(&PgPool, &Pulse)> {
        match &self.pools {
            Pools::File { .. } | Pools::Memory { .. } => None,
            Pools::Postgres { pool, pulse, .. } => Some((pool, pulse)),
        }
    }

    /// How copies of vectors are used, where there is pgvector.
    pub(super) fn vectors(&self) -> Option<Vectors> {
        self.vectors
    }

    pub(super) fn routes(&self) -> &OutboxRoutes {
        &self.routes
    }

    /// Told after every commit that put something into the outbox.
    pub(super) fn announced(&self) -> &Announced {
        &self.announced
    }

    pub(super) fn published(&self) -> &Published {
        &self.published
    }
}

/// Pages (of 4 KiB) beyond which a write-ahead log is large: 32 MiB, so that a second of much load more stays under 64.
const LARGE_LOG_PAGES: i64 = 8_192;

/// Returns whether it was blocked, the pages in the log, and those of them that were moved.
const PASSIVE_CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// As large as some dozen turns, because a full disk still takes a page or two. The purge of keys deletes it.
const PROBE: &str = "INSERT OR REPLACE INTO key_value (key, value, expires_at)
     VALUES ('disk-probe', hex(zeroblob(131072)), 0)";

fn sqlite_options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        .synchronous(SqliteSynchronous::Full)
        .statement_cache_capacity(256)
        .disable_statement_logging()
}

/// Settings of the connection that writes a file; those of the readers are in [`sqlite_options`].
const WRITER_PRAGMAS: &str = "PRAGMA journal_mode = wal; PRAGMA foreign_keys = on;
     PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = memory;";

const fn synchronous_pragma(synchronous: Synchronous) -> &'static str {
    match synchronous {
        Synchronous::Full => "PRAGMA synchronous = full;",
        Synchronous::Normal => "PRAGMA synchronous = normal;",
    }
}

/// Settings of the connection for glances.
const GLANCE_PRAGMAS: &str = "PRAGMA query_only = on; PRAGMA cache_size = -4096; PRAGMA temp_store = memory;";

async fn sqlite_file(path: &std::path::Path, synchronous: Synchronous) -> Result<Pools, StorageError> {
    private::create(path)?;
    private::close_database(path);
    let options = sqlite_options()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("wal_autocheckpoint", "0")
        .pragma("cache_size", "-4096")
        .pragma("temp_store", "memory");
    let mut first = options.connect().await.map_err(storage_error)?;
    let migrated = migrate_file(&mut first).await;
    first.close().await.map_err(storage_error)?;
    migrated?;
    let generations = Generations::new();
    let pragmas = format!("{WRITER_PRAGMAS} {}", synchronous_pragma(synchronous));
    let damage = Damage::default();
    let writer = Writer::open(path, &pragmas, PATIENCE, &generations, damage.clone())?;
    let readers = SqlitePoolOptions::new()
        .max_connections(SQLITE_READERS)
        .acquire_timeout(PATIENCE)
        .test_before_acquire(false)
        .connect_with(options.pragma("query_only", "on"))
        .await
        .map_err(storage_error)?;
    let glances = Glances::open(path, GLANCE_PRAGMAS, PATIENCE, damage.clone())?;
    Ok(Pools::File { writer, readers, glances, damage, generations })
}

/// Brings a file to the schema of today in one transaction: an upgrade that fails leaves the file as it was, and a new
/// file waits for the disk once.
pub(super) async fn migrate_file(connection: &mut SqliteConnection) -> Result<(), StorageError> {
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await.map_err(storage_error)?;
    let migrated = migrations::sqlite().run_direct(None, &mut *tx, false).await;
    migrated.map_err(|error| StorageError::Other(Box::new(error)))?;
    tx.commit().await.map_err(storage_error)
}

/// Settings of the connection of a database in memory.
const MEMORY_PRAGMAS: &str = "PRAGMA foreign_keys = on; PRAGMA temp_store = memory;";

fn sqlite_memory() -> Result<Pools, StorageError> {
    let generations = Generations::new();
    let writer = Writer::open_in_memory(MEMORY_PRAGMAS, PATIENCE, &generations, |connection| {
        migrations::sqlite().iter().try_for_each(|migration| {
            connection.execute_batch(&format!("BEGIN; {}; COMMIT;", migration.sql.as_str()))
        })
    })?;
    Ok(Pools::Memory { writer, generations })
}

async fn postgres(options: PgConnectOptions) -> Result<Pools, StorageError> {
    // A process that is paused in a transaction must not hold its row locks for ever. Statements are short: to compile
    // one takes several times as long as it, and Postgres does so for searches as soon as there are many contacts.
    let options = options
        .options([("idle_in_transaction_session_timeout", "3s"), ("lock_timeout", "10s"), ("jit", "off")])
        .statement_cache_capacity(256)
        .disable_statement_logging();
    let reading = options.clone().options([("default_transaction_read_only", "on")]);
    // Plans of turns are kept. Those made for a small table read it whole, and would go on to while it grows.
    let writing = options.options([("enable_seqscan", "off")]);
    let pool = |connections| {
        PgPoolOptions::new().max_connections(connections).acquire_timeout(PATIENCE).test_before_acquire(false)
    };
    Ok(Pools::Postgres {
        pool: pool(16).connect_with(writing).await.map_err(storage_error)?,
        readers: pool(8).connect_with(reading).await.map_err(storage_error)?,
        pulse: Pulse::default(),
    })
}

/// A transaction. It implements every repository.
#[derive(Debug)]
pub struct SqlTx {
    pub(super) conn: Conn,
    pub(super) routes: Arc<OutboxRoutes>,
    /// The streams that it put entries into.
    pub(super) entered: Vec<TopicName>,
    published: Arc<Published>,
    pub(super) announced: Arc<Announced>,
    pub(super) contact_news: ContactNews,
    pub(super) vectors: Option<Vectors>,
    pub(super) cx: OpContext,
}

impl SqlStore {
    fn transaction(&self, conn: Conn) -> SqlTx {
        SqlTx {
            conn,
            routes: Arc::clone(&self.routes),
            entered: Vec::new(),
            published: Arc::clone(&self.published),
            announced: Arc::clone(&self.announced),
            contact_news: ContactNews::default(),
            vectors: self.vectors,
            cx: self.cx.clone(),
        }
    }

    /// Begins a transaction of one statement, whose effect may stay without a commit. On Postgres it is spared the two
    /// round trips of `BEGIN` and `COMMIT`.
    pub(super) async fn begin_single(&self) -> Result<SqlTx, StorageError> {
        match self.single().await? {
            Some(tx) => Ok(tx),
            None => self.begin().await,
        }
    }

    /// The same for a statement that reads a stream. On Postgres it runs on a connection for turns, because the plans of
    /// those never read a whole table.
    pub(super) async fn read_single(&self) -> Result<SqlTx, StorageError> {
        match self.single().await? {
            Some(tx) => Ok(tx),
            None => self.read().await,
        }
    }

    /// Returns a connection to Postgres outside of a transaction, and `None` on SQLite.
    async fn single(&self) -> Result<Option<SqlTx>, StorageError> {
        let Pools::Postgres { pool, pulse, .. } = &self.pools else { return Ok(None) };
        pulse.check()?;
        let connection = pulse.guard(async { pool.acquire().await.map_err(storage_error) }).await?;
        Ok(Some(self.transaction(Conn::Postgres(PostgresConn::Single(connection), pulse.clone()))))
    }
}

#[async_trait]
impl Store for SqlStore {
    type Tx = SqlTx;

    async fn begin(&self) -> Result<SqlTx, StorageError> {
        self.check_damage()?;
        let conn = match &self.pools {
            Pools::File { writer, .. } | Pools::Memory { writer, .. } => Conn::Direct(writer.begin().await?),
            Pools::Postgres { pool, pulse, .. } => {
                pulse.check()?;
                let tx = pulse.guard(async { PostgresTx::begin(pool).await.map_err(storage_error) }).await?;
                Conn::Postgres(PostgresConn::Writing(tx), pulse.clone())
            }
        };
        Ok(self.transaction(conn))
    }

    async fn read(&self) -> Result<SqlTx, StorageError> {
        self.check_damage()?;
        let conn = match &self.pools {
            Pools::File { readers, damage, .. } => {
                let tx = damage.note(readers.begin().await.map_err(storage_error))?;
                Conn::Sqlite(tx, damage.clone())
            }
            Pools::Memory { writer, .. } => Conn::Direct(writer.begin().await?),
            Pools::Postgres { readers, pulse, .. } => {
                pulse.check()?;
                let connection =
                    pulse.guard(async { readers.acquire().await.map_err(storage_error) }).await?;
                Conn::Postgres(PostgresConn::Reading(connection), pulse.clone())
            }
        };
        Ok(self.transaction(conn))
    }

    async fn glance(&self) -> Result<SqlTx, StorageError> {
        self.check_damage()?;
        if let Pools::File { glances, .. } = &self.pools
            && let Some(tx) = glances.begin()?
        {
            return Ok(self.transaction(Conn::Direct(tx)));
        }
        self.read().await
    }

    fn generation(&self, of: Records) -> Option<u64> {
        match &self.pools {
            Pools::File { generations, .. } | Pools::Memory { generations, .. } => Some(generations.of(of)),
            Pools::Postgres { .. } => None,
        }
    }

    fn has_one_writer(&self) -> bool {
        !matches!(self.pools, Pools::Postgres { .. })
    }
}

#[async_trait]
impl Transaction for SqlTx {
    async fn commit(mut self) -> Result<(), StorageError> {
        self.tell_of_contacts().await?;
        match self.conn {
            Conn::Direct(tx) => tx.commit().await?,
            Conn::Sqlite(tx, _) => tx.commit().await.map_err(storage_error)?,
            Conn::Postgres(PostgresConn::Single(_) | PostgresConn::Reading(_), _) => {}
            Conn::Postgres(PostgresConn::Writing(mut tx), pulse) => {
                let told = (!self.entered.is_empty()).then(|| published::names(&self.entered));
                let commit = async {
                    if let Some(names) = told {
                        sqlx::query(listener::TELL).bind(names).execute(&mut *tx).await?;
                    }
                    tx.commit().await
                };
                pulse.guard(async { commit.await.map_err(storage_error) }).await?;
            }
        }
        self.published.tell(&self.entered);
        Ok(())
    }

    /// On SQLite nobody else writes until the transaction is over, whenever that is.
    async fn rollback(self) {
        if let Conn::Postgres(PostgresConn::Writing(tx), _) = self.conn
            && let Err(error) = tx.rollback().await
        {
            tracing::debug!(%error, "a transaction ended with its connection");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn postgres_compiles_no_statement() {
        let Some(url) = crate::sql::tests::new_postgres().await else {
            return crate::sql::tests::skipped("jit");
        };
        let Pools::Postgres { pool, readers, .. } =
            postgres(url.parse().expect("a URL")).await.expect("pools")
        else {
            panic!("pools of another database");
        };
        for pool in [pool, readers] {
            let setting: String = sqlx::query_scalar("SHOW jit").fetch_one(&pool).await.expect("a setting");
            assert_eq!(setting, "off");
        }
    }
}
