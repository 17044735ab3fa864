//! A Postgres database taken by one process.

use flowsdk_core::fault::StorageError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

use super::executor::storage_error;

/// Any number that nobody else uses. It must never change: processes of different versions exclude each other by it.
const LOCK: &str = "SELECT pg_try_advisory_lock(28834229018419051)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(28834229018419051)";

/// The advisory lock of a database, held as long as its connection lives.
#[derive(Debug)]
pub struct SoleClaim {
    connection: PgConnection,
}

impl SoleClaim {
    /// Takes the database; `None` when another process has it.
    pub async fn take(options: &PgConnectOptions) -> Result<Option<Self>, StorageError> {
        let mut connection = options.connect().await.map_err(storage_error)?;
        let (taken,): (bool,) =
            sqlx::query_as(LOCK).fetch_one(&mut connection).await.map_err(storage_error)?;
        Ok(taken.then_some(Self { connection }))
    }

    /// Gives the database back at once. Without it the server does so when it notices that the connection is gone.
    ///
    /// # Errors
    /// The server cannot be told; the connection is gone all the same.
    pub async fn release(mut self) -> Result<(), StorageError> {
        sqlx::query(UNLOCK).execute(&mut self.connection).await.map_err(storage_error)?;
        self.connection.close().await.map_err(storage_error)
    }
}
