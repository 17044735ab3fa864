//! Runs statements on whichever engine a transaction is of.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use flowsdk_core::fault::{BoxError, StorageError};
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::pool::PoolConnection;
use sqlx::types::Json;
use sqlx::{PgConnection, Postgres, Sqlite, Transaction};

use super::sqlite::DirectTx;

/// A transaction of one of the engines.
#[derive(Debug)]
pub(crate) enum Conn {
    /// Writes SQLite, or reads a few rows of a file.
    Direct(DirectTx),
    /// Reads a file.
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(PostgresConn),
}

/// A connection to Postgres. Under READ COMMITTED every statement sees what is committed when it begins, so
/// one that only reads gains nothing from a transaction and is spared its two round trips.
#[derive(Debug)]
pub(crate) enum PostgresConn {
    Writing(Transaction<'static, Postgres>),
    /// Of the pool whose connections refuse to write.
    Reading(PoolConnection<Postgres>),
}

impl Deref for PostgresConn {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Writing(tx) => tx,
            Self::Reading(connection) => connection,
        }
    }
}

impl DerefMut for PostgresConn {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Writing(tx) => tx,
            Self::Reading(connection) => connection,
        }
    }
}

/// All rows of a query, as tuples.
macro_rules! fetch_all {
    ($conn:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Direct(tx) => {
                tx.prepare($sql.sqlite)$(.bind($bind))*.fetch_all::<$row>()
            }
            $crate::sql::executor::Conn::Sqlite(tx) => {
                sqlx::query_as::<_, $row>($sql.sqlite)$(.bind($bind))*.fetch_all(&mut **tx).await
                    .map_err($crate::sql::executor::storage_error)
            }
            $crate::sql::executor::Conn::Postgres(tx) => {
                sqlx::query_as::<_, $row>($sql.postgres)$(.bind($bind))*.fetch_all(&mut **tx).await
                    .map_err($crate::sql::executor::storage_error)
            }
        }
    };
}
pub(crate) use fetch_all;

/// All rows of a query that Postgres plans anew with its values, where one plan for all values would be far
/// from the best.
macro_rules! fetch_all_replanned {
    ($conn:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Direct(tx) => {
                tx.prepare($sql.sqlite)$(.bind($bind))*.fetch_all::<$row>()
            }
            $crate::sql::executor::Conn::Sqlite(tx) => {
                sqlx::query_as::<_, $row>($sql.sqlite)$(.bind($bind))*.fetch_all(&mut **tx).await
                    .map_err($crate::sql::executor::storage_error)
            }
            $crate::sql::executor::Conn::Postgres(tx) => {
                sqlx::query_as::<_, $row>($sql.postgres)$(.bind($bind))*
                    .persistent(false).fetch_all(&mut **tx).await
                    .map_err($crate::sql::executor::storage_error)
            }
        }
    };
}
pub(crate) use fetch_all_replanned;

/// The row of a query, if there is one.
macro_rules! fetch_optional {
    ($conn:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Direct(tx) => {
                tx.prepare($sql.sqlite)$(.bind($bind))*.fetch_optional::<$row>()
            }
            $crate::sql::executor::Conn::Sqlite(tx) => {
                sqlx::query_as::<_, $row>($sql.sqlite)$(.bind($bind))*.fetch_optional(&mut **tx).await
                    .map_err($crate::sql::executor::storage_error)
            }
            $crate::sql::executor::Conn::Postgres(tx) => {
                sqlx::query_as::<_, $row>($sql.postgres)$(.bind($bind))*.fetch_optional(&mut **tx).await
                    .map_err($crate::sql::executor::storage_error)
            }
        }
    };
}
pub(crate) use fetch_optional;

/// Runs a statement; gives the number of rows it changed.
macro_rules! execute {
    ($conn:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Direct(tx) => tx.prepare($sql.sqlite)$(.bind($bind))*.execute(),
            $crate::sql::executor::Conn::Sqlite(_) => Err($crate::sql::executor::read_only()),
            $crate::sql::executor::Conn::Postgres(tx) => sqlx::query($sql.postgres)$(.bind($bind))*
                .execute(&mut **tx).await.map(|done| done.rows_affected())
                .map_err($crate::sql::executor::storage_error),
        }
    };
}
pub(crate) use execute;

/// Runs a [`RowsSql`](super::statement::RowsSql) over a slice; gives the number of rows it changed.
macro_rules! execute_rows {
    ($conn:expr, $sql:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {
        async {
            let mut changed = 0;
            match &mut $conn {
                $crate::sql::executor::Conn::Direct(tx) => {
                    // Where a statement costs no way to another thread, one that is run again is the cheapest.
                    let mut prepared = tx.prepare($sql.single());
                    for $item in $items {
                        let mut $query = prepared;
                        $query = $bound;
                        let (rows, again) = $query.execute_again()?;
                        (changed, prepared) = (changed + rows, again);
                    }
                }
                $crate::sql::executor::Conn::Sqlite(_) => return Err($crate::sql::executor::read_only()),
                $crate::sql::executor::Conn::Postgres(tx) => {
                    let mut rest = $items;
                    while !rest.is_empty() {
                        let (chunk, text) = $sql.chunk(rest);
                        rest = &rest[chunk.len()..];
                        let mut $query = sqlx::query(text);
                        for $item in chunk {
                            $query = $bound;
                        }
                        let done = $query.execute(&mut **tx).await;
                        changed += done.map_err($crate::sql::executor::storage_error)?.rows_affected();
                    }
                }
            }
            Ok::<u64, flowsdk_core::fault::StorageError>(changed)
        }
    };
}
pub(crate) use execute_rows;

/// A statement that changes rows, in a transaction that reads.
pub(crate) fn read_only() -> StorageError {
    StorageError::Other("this transaction only reads".into())
}

/// Names what happened, without the driver's types.
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
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            StorageError::Corrupt { entity: "row", reason: error.to_string() }
        }
        _ => StorageError::Other(Box::new(error)),
    }
}

/// What the code of an engine means.
pub(super) fn of_code(code: Option<&str>, error: BoxError) -> StorageError {
    match code {
        // Postgres: serialization failure, deadlock, lock not available.
        // SQLite: SQLITE_BUSY and SQLITE_LOCKED with their extended codes.
        Some("40001" | "40P01" | "55P03" | "5" | "6" | "261" | "262" | "517" | "773") => {
            StorageError::Contention(error)
        }
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

/// `value` as JSON to bind. Postgres stores no NUL, so it becomes U+FFFD on both engines: a message must not
/// fail for what its sender typed, nor an entry that is kept because it failed.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Json<Box<RawValue>>, StorageError> {
    let text = serde_json::to_string(value).map(without_nul);
    let raw = text.and_then(RawValue::from_string);
    raw.map(Json).map_err(|error| StorageError::Other(Box::new(error)))
}

/// JSON in which no string holds a NUL.
fn without_nul(json: String) -> String {
    const NUL: &str = "\\u0000";
    if !json.contains(NUL) {
        return json;
    }
    let mut clean = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        clean.push_str(before);
        let is_nul = escape.starts_with(NUL);
        // An escaped backslash is one escape, so that what follows it is not taken for another.
        let len = if is_nul { NUL.len() } else { 2 };
        clean.push_str(if is_nul { "\u{fffd}" } else { &escape[..len] });
        rest = &escape[len..];
    }
    clean.push_str(rest);
    clean
}

/// `text` to bind, with U+FFFD for NUL, as in [`json`].
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A value of the store that a domain type refuses.
pub(crate) fn corrupt(entity: &'static str) -> impl Fn(&dyn std::fmt::Display) -> StorageError {
    move |reason| StorageError::Corrupt { entity, reason: reason.to_string() }
}

/// Parses a stored identifier.
pub(crate) fn id<T: TryFrom<String>>(entity: &'static str, text: String) -> Result<T, StorageError>
where
    T::Error: std::fmt::Display,
{
    T::try_from(text).map_err(|error| corrupt(entity)(&error))
}

/// Parses a stored identifier that may be absent.
pub(crate) fn optional_id<T: TryFrom<String>>(
    entity: &'static str,
    text: Option<String>,
) -> Result<Option<T>, StorageError>
where
    T::Error: std::fmt::Display,
{
    text.map(|text| id(entity, text)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_becomes_the_replacement_character_and_its_spelling_stays() {
        for value in ["", "a", "\0", "\\\0", "\\u0000", "\\\\u0000\0\\", "\"\0\"", "\u{1}\0é👋\n"] {
            let text = without_nul(serde_json::to_string(value).expect("a string"));
            let read: String = serde_json::from_str(&text).expect(&text);
            assert_eq!(read, value.replace('\0', "\u{fffd}"));
        }
    }

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
