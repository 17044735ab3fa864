//! Rules for every statement and for the schema, on both engines.

mod channels;
mod histories;
mod identity;
mod messages;
mod migrations;
mod parity;
mod plans;
mod records;
mod references;
mod rotation;
mod statements;
mod usage;

use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

/// An empty database in memory.
async fn sqlite() -> SqliteConnection {
    SqliteConnection::connect("sqlite::memory:").await.expect("a database")
}

/// The migrations before that of a number.
fn before(all: &Migrator, number: i64) -> Migrator {
    Migrator::with_migrations(all.iter().filter(|migration| migration.version < number).cloned().collect())
}

/// The address of an empty database on the test server, if there is one.
pub(super) async fn new_postgres() -> Option<String> {
    new_database("FLOWSDK_TEST_POSTGRES").await
}

/// The address of an empty database on the test server that has pgvector, if there is one.
pub(super) async fn new_pgvector() -> Option<String> {
    new_database("FLOWSDK_TEST_PGVECTOR").await
}

async fn new_database(variable: &str) -> Option<String> {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let server = std::env::var(variable).ok()?;
    let mut admin = PgConnection::connect(&server).await.expect("the test server answers");
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("flowsdk_schema_{}_{count}", std::process::id());
    let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::raw_sql(create).execute(&mut admin).await.expect("a database");
    let (server, _) = server.rsplit_once('/').expect("the address names a database");
    Some(format!("{server}/{name}"))
}

/// An empty database on the test server, if there is one.
async fn postgres() -> Option<PgConnection> {
    Some(PgConnection::connect(&new_postgres().await?).await.expect("a database"))
}

async fn migrated_sqlite() -> SqliteConnection {
    let mut connection = sqlite().await;
    super::migrations::sqlite().run_direct(None, &mut connection, false).await.expect("migrated");
    connection
}

async fn migrated_postgres() -> Option<PgConnection> {
    let mut connection = postgres().await?;
    super::migrations::postgres().run_direct(None, &mut connection, false).await.expect("migrated");
    Some(connection)
}

#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(super) fn skipped(name: &str) {
    eprintln!("skipped {name} on Postgres: its server is not named, see `cargo xtask test`");
}
