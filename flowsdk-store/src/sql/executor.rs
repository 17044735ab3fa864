//! Runs statements on whichever engine a transaction is of.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use flowsdk_core::cell::Cell;
use flowsdk_core::fault::{BoxError, StorageError};
use futures_util::TryStreamExt as _;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::SqliteArguments;
use sqlx::{PgConnection, Postgres, Sqlite, Transaction};

use super::arrays::Arrays;
use super::bind::{Binder, Binds, Target};
use super::damage::Damage;
use super::postgres_tx::PostgresTx;
use super::pulse::Pulse;
use super::record::Record;
use super::row::{Cells, Row};
use super::sqlite::DirectTx;
use super::statement::{MOST_ROWS, RowsSql, Sql};

/// A transaction of one of the engines.
#[derive(Debug)]
pub(crate) enum Conn {
    /// Writes SQLite, or reads a few rows of a file.
    Direct(DirectTx),
    /// A reader of a SQLite file.
    Sqlite(Transaction<'static, Sqlite>, Damage),
    Postgres(PostgresConn, Pulse),
}

/// A connection to Postgres. Under READ COMMITTED every statement sees the rows committed when it begins, so
/// one that only reads gains nothing from a transaction and is spared its two round trips.
#[derive(Debug)]
pub(crate) enum PostgresConn {
    Writing(PostgresTx),
    /// For one statement, which is a transaction of its own.
    Single(PoolConnection<Postgres>),
    /// Of the pool whose connections refuse to write.
    Reading(PoolConnection<Postgres>),
}

impl Deref for PostgresConn {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Writing(tx) => tx,
            Self::Single(connection) | Self::Reading(connection) => connection,
        }
    }
}

impl DerefMut for PostgresConn {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Writing(tx) => tx,
            Self::Single(connection) | Self::Reading(connection) => connection,
        }
    }
}

/// The policy of Postgres for the plan of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// One plan serves all values.
    Kept,
    /// Planned anew with its values, where one plan for all would be far from the best.
    OfValues,
}

impl Conn {
    /// Returns whether it is of Postgres.
    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres(..))
    }

    /// Returns all rows of a query.
    pub(crate) async fn fetch_all<R: Row>(
        &mut self,
        sql: Sql,
        binds: impl Binds,
    ) -> Result<Vec<R>, StorageError> {
        self.fetch(sql, binds, Plan::Kept).await
    }

    /// Returns all rows of a query that Postgres plans with its values.
    pub(crate) async fn fetch_all_replanned<R: Row>(
        &mut self,
        sql: Sql,
        binds: impl Binds,
    ) -> Result<Vec<R>, StorageError> {
        self.fetch(sql, binds, Plan::OfValues).await
    }

    async fn fetch<R: Row>(
        &mut self,
        sql: Sql,
        binds: impl Binds,
        plan: Plan,
    ) -> Result<Vec<R>, StorageError> {
        match self {
            Self::Direct(tx) => tx.bound(sql.sqlite, binds)?.fetch_all(),
            Self::Sqlite(tx, damage) => {
                let binds: SqliteArguments = arguments(binds)?;
                let mut rows = sqlx::query_with(sql.sqlite, binds).fetch(&mut **tx);
                let mut found = Vec::new();
                while let Some(row) = damage.note(rows.try_next().await.map_err(storage_error))? {
                    found.push(R::read(&mut Cells::new(&row, sql.sqlite))?);
                }
                Ok(found)
            }
            Self::Postgres(tx, pulse) => {
                let rows = all_rows(pulse, tx, sql.postgres, arguments(binds)?, plan).await?;
                rows.iter().map(|row| R::read(&mut Cells::new(row, sql.postgres))).collect()
            }
        }
    }

    /// Returns the row of a query, if there is one.
    pub(crate) async fn fetch_optional<R: Row>(
        &mut self,
        sql: Sql,
        binds: impl Binds,
    ) -> Result<Option<R>, StorageError> {
        match self {
            Self::Direct(tx) => tx.bound(sql.sqlite, binds)?.fetch_optional(),
            Self::Sqlite(tx, damage) => {
                let binds: SqliteArguments = arguments(binds)?;
                let row = sqlx::query_with(sql.sqlite, binds).fetch_optional(&mut **tx).await;
                let row = damage.note(row.map_err(storage_error))?;
                row.map(|row| R::read(&mut Cells::new(&row, sql.sqlite))).transpose()
            }
            Self::Postgres(tx, pulse) => {
                let row = first_row(pulse, tx, sql.postgres, arguments(binds)?).await?;
                row.map(|row| R::read(&mut Cells::new(&row, sql.postgres))).transpose()
            }
        }
    }

    /// Runs a statement. Returns the number of rows it changed.
    pub(crate) async fn execute(&mut self, sql: Sql, binds: impl Binds) -> Result<u64, StorageError> {
        match self {
            Self::Direct(tx) => tx.bound(sql.sqlite, binds)?.execute(),
            Self::Sqlite(..) => Err(read_only()),
            Self::Postgres(tx, pulse) => run(pulse, tx, sql.postgres, arguments(binds)?).await,
        }
    }

    /// Returns the only column of a query.
    pub(crate) async fn fetch_column<T: Cell>(
        &mut self,
        sql: Sql,
        binds: impl Binds,
    ) -> Result<Vec<T>, StorageError> {
        let rows = self.fetch_all::<(T,)>(sql, binds).await?;
        Ok(rows.into_iter().map(|(value,)| value).collect())
    }

    /// Inserts records. Returns the number of rows it inserted.
    pub(crate) async fn insert_rows<R: Record>(
        &mut self,
        sql: &RowsSql,
        records: &[R],
    ) -> Result<u64, StorageError> {
        self.execute_rows(sql, records, |to, record| record.bind(to)).await
    }

    /// Runs a statement over rows, each of which `bind` binds. Returns the number of rows it changed.
    pub(crate) async fn execute_rows<T>(
        &mut self,
        sql: &RowsSql,
        rows: &[T],
        bind: impl Fn(&mut Binder<'_>, &T),
    ) -> Result<u64, StorageError> {
        let mut changed = 0;
        match self {
            _ if rows.is_empty() => {}
            Self::Direct(tx) => {
                // Where a statement costs no way to another thread, one that is run again is the cheapest.
                let mut prepared = tx.prepare(sql.single());
                for row in rows {
                    let mut binder = Binder::new(&mut prepared);
                    bind(&mut binder, row);
                    binder.done()?;
                    changed += prepared.execute_again()?;
                }
            }
            Self::Sqlite(..) => return Err(read_only()),
            Self::Postgres(tx, pulse) => {
                if let [row] = rows {
                    return run(pulse, tx, sql.of_row(), arguments(OfRow(row, bind))?).await;
                }
                for chunk in rows.chunks(MOST_ROWS) {
                    let arrays = Arrays::of(sql.columns(), chunk, &bind)?;
                    changed += run(pulse, tx, sql.of_arrays(), arrays.arguments()?).await?;
                }
            }
        }
        Ok(changed)
    }
}

/// Returns all rows of a query on Postgres.
async fn all_rows(
    pulse: &Pulse,
    tx: &mut PgConnection,
    text: &'static str,
    binds: PgArguments,
    plan: Plan,
) -> Result<Vec<PgRow>, StorageError> {
    let query = sqlx::query_with(text, binds).persistent(plan == Plan::Kept);
    pulse.guard(async { query.fetch_all(tx).await.map_err(storage_error) }).await
}

/// Returns the first row of a query on Postgres, if there is one.
async fn first_row(
    pulse: &Pulse,
    tx: &mut PgConnection,
    text: &'static str,
    binds: PgArguments,
) -> Result<Option<PgRow>, StorageError> {
    let query = sqlx::query_with(text, binds);
    pulse.guard(async { query.fetch_optional(tx).await.map_err(storage_error) }).await
}

/// Runs a statement on Postgres. Returns the number of rows it changed.
async fn run(
    pulse: &Pulse,
    tx: &mut PgConnection,
    text: &'static str,
    binds: PgArguments,
) -> Result<u64, StorageError> {
    let query = sqlx::query_with(text, binds);
    let run = async { query.execute(tx).await.map_err(storage_error) };
    pulse.guard(run).await.map(|done| done.rows_affected())
}

/// One row.
struct OfRow<'a, T, B>(&'a T, B);

impl<T, B: Fn(&mut Binder<'_>, &T)> Binds for OfRow<'_, T, B> {
    fn bind_all(self, to: &mut Binder<'_>) {
        (self.1)(to, self.0);
    }
}

/// The binds as sqlx takes them.
fn arguments<A: Target + Default>(binds: impl Binds) -> Result<A, StorageError> {
    let mut arguments = A::default();
    let mut binder = Binder::new(&mut arguments);
    binds.bind_all(&mut binder);
    binder.done()?;
    Ok(arguments)
}

/// A statement that changes rows, in a transaction that reads.
pub(crate) fn read_only() -> StorageError {
    StorageError::Other("this transaction only reads".into())
}

/// Names the error, without the driver's types.
pub(crate) fn storage_error(error: sqlx::Error) -> StorageError {
    match &error {
        sqlx::Error::Database(database) => {
            if database.is_unique_violation() {
                let constraint = database.constraint().unwrap_or_else(|| database.message()).to_owned();
                return StorageError::Unique { constraint };
            }
            if database.is_foreign_key_violation() {
                let constraint = database.constraint().unwrap_or_else(|| database.message()).to_owned();
                return StorageError::Orphan { constraint };
            }
            let code = database.code().map(Cow::into_owned);
            of_code(code.as_deref(), Box::new(error))
        }
        sqlx::Error::PoolTimedOut => StorageError::Contention(Box::new(error)),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StorageError::Unavailable(Box::new(error))
        }
        _ => StorageError::Other(Box::new(error)),
    }
}

/// Returns the error that an engine's code stands for.
pub(super) fn of_code(code: Option<&str>, error: BoxError) -> StorageError {
    match code {
        // Postgres: serialization failure, deadlock, lock not available.
        // SQLite: SQLITE_BUSY and SQLITE_LOCKED with their extended codes.
        Some("40001" | "40P01" | "55P03" | "5" | "6" | "261" | "262" | "517" | "773") => {
            StorageError::Contention(error)
        }
        // SQLite: a malformed page, an index that is not that of its table, a file that is no database.
        Some("11" | "26" | "267" | "523" | "779") => StorageError::Damaged(error),
        Some(code) if is_outage(code) => StorageError::Unavailable(error),
        _ => StorageError::Other(error),
    }
}

/// Postgres: connection lost, shutting down, out of resources, idle for too long in a transaction, writes refused
/// (a standby, or one that is being switched over). SQLite: disk full, and I/O errors, which have the low byte 10.
fn is_outage(code: &str) -> bool {
    if code.len() == 5 && ["08", "57", "53"].iter().any(|class| code.starts_with(class))
        || matches!(code, "25P03" | "25006")
    {
        return true;
    }
    code == "13" || code.len() < 5 && code.parse::<u16>().is_ok_and(|code| code & 0xff == 10)
}

/// `text` as it is stored, with U+FFFD for NUL.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_are_told_from_faults() {
        for (code, outage) in [
            ("08006", true),
            ("57P01", true),
            ("53300", true),
            ("25P03", true),
            ("25006", true),
            ("13", true),
            ("10", true),
            ("522", true),
            ("531", false),
            ("23505", false),
            ("1", false),
            ("42601", false),
        ] {
            assert_eq!(is_outage(code), outage, "{code}");
        }
    }
}
