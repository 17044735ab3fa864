//! A fresh database of each engine for each test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore, Synchronous};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::sync::OnceCell;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Every stream goes to the groups of the conformance suites.
pub(crate) fn routes() -> OutboxRoutes {
    OutboxRoutes::embedded(TopicName::ALL.into_iter().flat_map(|topic| GROUPS.map(|group| (topic, group))))
}

/// A database in memory.
pub(crate) async fn memory() -> SqlStore {
    memory_with(routes()).await
}

pub(crate) async fn memory_with(routes: OutboxRoutes) -> SqlStore {
    SqlStore::connect(&DatabaseUrl::SqliteMemory, routes).await.expect("a database")
}

/// A database in a file.
pub(crate) async fn file() -> SqlStore {
    SqlStore::connect(&new_file(), routes()).await.expect("a database")
}

/// The address of a new database file.
pub(crate) fn new_file() -> DatabaseUrl {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let test = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = root.join(format!("sqlite-{}", std::process::id()));
    if test == 0 {
        forget_files_of_the_past(root);
    }
    fs::create_dir_all(&directory).expect("a directory");
    DatabaseUrl::SqliteFile { path: directory.join(format!("{test}.db")), synchronous: Synchronous::Full }
}

/// Removes what earlier runs left: a test process has no end at which it could do so itself.
fn forget_files_of_the_past(root: &Path) {
    let alive = |path: &PathBuf| {
        let process = path.file_name().and_then(|name| name.to_str()?.strip_prefix("sqlite-"));
        process.is_none_or(|process| Path::new("/proc").join(process).exists())
    };
    let paths = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in paths.filter(|path| !alive(path)) {
        drop(fs::remove_dir_all(path));
    }
}

/// A database on the test server, if there is one.
pub(crate) async fn postgres() -> Option<SqlStore> {
    postgres_with(routes()).await
}

pub(crate) async fn postgres_with(routes: OutboxRoutes) -> Option<SqlStore> {
    let server = std::env::var("FLOWSDK_TEST_POSTGRES").ok()?;
    Some(copied(&server, &TEMPLATE, routes).await)
}

/// A database on the test server that has pgvector, if there is one.
pub(crate) async fn pgvector() -> Option<SqlStore> {
    let server = std::env::var("FLOWSDK_TEST_PGVECTOR").ok()?;
    Some(copied(&server, &PGVECTOR_TEMPLATE, routes()).await)
}

async fn copied(server: &str, of: &OnceCell<String>, routes: OutboxRoutes) -> SqlStore {
    let template = of.get_or_init(|| template(server)).await;
    let (url, name) = new_postgres_of(server, &format!("TEMPLATE {template}")).await;
    let store = SqlStore::connect(&url, routes).await.expect("a database");
    connected(name);
    store
}

/// A database with the schema of today, of which those of the tests are copies: to migrate one takes three times as long
/// as to copy it.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static PGVECTOR_TEMPLATE: OnceCell<String> = OnceCell::const_new();

async fn template(server: &str) -> String {
    let (url, name) = new_postgres_of(server, "").await;
    SqlStore::connect(&url, OutboxRoutes::relayed()).await.expect("a database").close().await;
    name
}

/// Databases of this process whose tests have connected.
static READY: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Says that the store of database `name` has connected: from when nobody is connected any more, it may go.
pub(crate) fn connected(name: String) {
    READY.lock().unwrap_or_else(PoisonError::into_inner).push(name);
}

/// The address and name of a new database on the test server, which has nothing.
pub(crate) async fn new_postgres() -> Option<(DatabaseUrl, String)> {
    let server = std::env::var("FLOWSDK_TEST_POSTGRES").ok()?;
    Some(new_postgres_of(&server, "").await)
}

/// The address of a new database on the test server that has pgvector. The database has nothing, nor the extension.
pub(crate) async fn new_pgvector() -> Option<(DatabaseUrl, String)> {
    let server = std::env::var("FLOWSDK_TEST_PGVECTOR").ok()?;
    Some(new_postgres_of(&server, "").await)
}

async fn new_postgres_of(server: &str, of: &str) -> (DatabaseUrl, String) {
    let mut admin = PgConnection::connect(server).await.expect("the test server answers");
    drop_finished(&mut admin).await;
    let name = format!("flowsdk_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let statement = AssertSqlSafe(format!("CREATE DATABASE {name} {of}"));
    sqlx::raw_sql(statement).execute(&mut admin).await.expect("a database");
    admin.close().await.expect("close");
    let (server, _) = server.rsplit_once('/').expect("the address names a database");
    (format!("{server}/{name}").parse().expect("an address"), name)
}

/// Drops two databases of a server whose tests are over.
async fn drop_finished(admin: &mut PgConnection) {
    for _ in 0..2 {
        let mut ready = std::mem::take(&mut *READY.lock().unwrap_or_else(PoisonError::into_inner));
        let idle: Option<(String,)> = sqlx::query_as(
            "SELECT name FROM unnest($1) AS name
             WHERE EXISTS (SELECT 1 FROM pg_database WHERE datname = name)
                 AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = name) LIMIT 1",
        )
        .bind(&ready)
        .fetch_optional(&mut *admin)
        .await
        .expect("the test server answers");
        if let Some((name,)) = idle {
            ready.retain(|other| *other != name);
            let statement = AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}"));
            drop(sqlx::raw_sql(statement).execute(&mut *admin).await);
        }
        READY.lock().unwrap_or_else(PoisonError::into_inner).append(&mut ready);
    }
}

/// Runs a test on a fresh database of each engine; `$test` is an async function of an `SqlStore`.
macro_rules! on_every_database {
    ($($(#[$doc:meta])* $test:ident),* $(,)?) => {
        mod on_memory {
            $($(#[$doc])* #[test]
            fn $test() {
                let make = crate::support::databases::memory;
                flowsdk_core::testkit::run(stringify!($test), make, super::$test);
            })*
        }
        mod on_file {
            $($(#[$doc])* #[test]
            fn $test() {
                let make = crate::support::databases::file;
                flowsdk_core::testkit::run(stringify!($test), make, super::$test);
            })*
        }
        mod on_postgres {
            $($(#[$doc])* #[test]
            fn $test() {
                let make = crate::support::databases::postgres;
                flowsdk_core::testkit::run(stringify!($test), make, super::$test);
            })*
        }
    };
}
pub(crate) use on_every_database;

/// The same, and on PostgreSQL with pgvector.
macro_rules! on_every_database_and_pgvector {
    ($($test:ident),* $(,)?) => {
        crate::support::databases::on_every_database! { $($test),* }
        crate::support::databases::on_pgvector! { $($test),* }
    };
}
pub(crate) use on_every_database_and_pgvector;

/// Runs a test on a fresh database with pgvector.
macro_rules! on_pgvector {
    ($($test:ident),* $(,)?) => {
        mod on_pgvector {
            $(#[test]
            fn $test() {
                let make = crate::support::databases::pgvector;
                flowsdk_core::testkit::run(stringify!($test), make, super::$test);
            })*
        }
    };
}
pub(crate) use on_pgvector;
