//! A Postgres database taken by one process.

use flowsdk_core::fault::StorageError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};

use super::executor::storage_error;

/// Any number that nobody else uses. It must never change: processes of different versions exclude each other by it.
const LOCK: &str = "SELECT pg_try_advisory_lock(28834229018419051)";

/// The advisory lock of a database, held as long as its connection lives.
#[derive(Debug)]
pub struct SoleClaim {
    _connection: PgConnection,
}

impl SoleClaim {
    /// Takes the database; `None` when another process has it.
    pub async fn take(options: &PgConnectOptions) -> Result<Option<Self>, StorageError> {
        let mut connection = options.connect().await.map_err(storage_error)?;
        let (taken,): (bool,) =
            sqlx::query_as(LOCK).fetch_one(&mut connection).await.map_err(storage_error)?;
        Ok(taken.then_some(Self { _connection: connection }))
    }
}
