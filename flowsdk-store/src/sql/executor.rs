//! Runs statements on whichever engine a transaction is of.

use flowsdk_core::fault::StorageError;
use sqlx::{Postgres, Sqlite, Transaction};

/// A transaction of one of the engines.
#[derive(Debug)]
pub(crate) enum Conn {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// All rows of a query, as tuples.
macro_rules! fetch_all {
    ($conn:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Sqlite(tx) => {
                sqlx::query_as::<_, $row>($sql.sqlite)$(.bind($bind))*.fetch_all(&mut **tx).await
            }
            $crate::sql::executor::Conn::Postgres(tx) => {
                sqlx::query_as::<_, $row>($sql.postgres)$(.bind($bind))*.fetch_all(&mut **tx).await
            }
        }
        .map_err($crate::sql::executor::storage_error)
    };
}
pub(crate) use fetch_all;

/// The row of a query, if there is one.
macro_rules! fetch_optional {
    ($conn:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Sqlite(tx) => {
                sqlx::query_as::<_, $row>($sql.sqlite)$(.bind($bind))*.fetch_optional(&mut **tx).await
            }
            $crate::sql::executor::Conn::Postgres(tx) => {
                sqlx::query_as::<_, $row>($sql.postgres)$(.bind($bind))*.fetch_optional(&mut **tx).await
            }
        }
        .map_err($crate::sql::executor::storage_error)
    };
}
pub(crate) use fetch_optional;

/// Runs a statement; gives the number of rows it changed.
macro_rules! execute {
    ($conn:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $conn {
            $crate::sql::executor::Conn::Sqlite(tx) => sqlx::query($sql.sqlite)$(.bind($bind))*
                .execute(&mut **tx).await.map(|done| done.rows_affected()),
            $crate::sql::executor::Conn::Postgres(tx) => sqlx::query($sql.postgres)$(.bind($bind))*
                .execute(&mut **tx).await.map(|done| done.rows_affected()),
        }
        .map_err($crate::sql::executor::storage_error)
    };
}
pub(crate) use execute;

/// Runs a [`RowsSql`](super::statement::RowsSql) over a slice; gives the number of rows it changed.
macro_rules! execute_rows {
    ($conn:expr, $sql:expr, $items:expr, |$query:ident, $item:ident| $bound:expr) => {
        async {
            let mut changed = 0;
            let mut rest = $items;
            while !rest.is_empty() {
                let (chunk, text) = $sql.chunk(rest);
                rest = &rest[chunk.len()..];
                changed += match &mut $conn {
                    $crate::sql::executor::Conn::Sqlite(tx) => {
                        let mut $query = sqlx::query(text.sqlite);
                        for $item in chunk {
                            $query = $bound;
                        }
                        $query.execute(&mut **tx).await.map(|done| done.rows_affected())
                    }
                    $crate::sql::executor::Conn::Postgres(tx) => {
                        let mut $query = sqlx::query(text.postgres);
                        for $item in chunk {
                            $query = $bound;
                        }
                        $query.execute(&mut **tx).await.map(|done| done.rows_affected())
                    }
                }
                .map_err($crate::sql::executor::storage_error)?;
            }
            Ok::<u64, flowsdk_core::fault::StorageError>(changed)
        }
    };
}
pub(crate) use execute_rows;

/// Names what happened, without the driver's types.
pub(crate) fn storage_error(error: sqlx::Error) -> StorageError {
    match &error {
        sqlx::Error::Database(database) => {
            if database.is_unique_violation() {
                let constraint = database
                    .constraint()
                    .unwrap_or_else(|| database.message())
                    .to_owned();
                return StorageError::Unique { constraint };
            }
            match database.code().as_deref() {
                // Postgres: serialization failure, deadlock, lock not available.
                // SQLite: SQLITE_BUSY and SQLITE_LOCKED with their extended codes.
                Some("40001" | "40P01" | "55P03" | "5" | "6" | "261" | "262" | "517") => {
                    StorageError::Contention(Box::new(error))
                }
                // Postgres: connection lost, shutting down, too many connections. SQLite: disk full, I/O.
                Some(code)
                    if code.starts_with("08")
                        || code.starts_with("57")
                        || code.starts_with("53")
                        || code == "13" =>
                {
                    StorageError::Unavailable(Box::new(error))
                }
                _ => StorageError::Other(Box::new(error)),
            }
        }
        sqlx::Error::PoolTimedOut => StorageError::Contention(Box::new(error)),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            StorageError::Unavailable(Box::new(error))
        }
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => StorageError::Corrupt {
            entity: "row",
            reason: error.to_string(),
        },
        _ => StorageError::Other(Box::new(error)),
    }
}

/// A value of the store that a domain type refuses.
pub(crate) fn corrupt(entity: &'static str) -> impl Fn(&dyn std::fmt::Display) -> StorageError {
    move |reason| StorageError::Corrupt {
        entity,
        reason: reason.to_string(),
    }
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
