//! A database taken by one process, where streams are in the database: two would run turns of one session at the same
//! time.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use flowsdk_core::fault::{Chain, StorageError};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};

use super::DatabaseUrl;
use super::executor::storage_error;

/// A database that belongs to this process. The operating system or the server gives it back however the process ends.
#[derive(Debug)]
pub struct SoleOwner(Claim);

#[derive(Debug)]
enum Claim {
    /// The lock of a file.
    File { _lock: File },
    /// The lock of a database on a server.
    Database(SoleClaim),
    /// A database in memory belongs to one process anyway.
    Memory,
}

/// The reason why a process cannot take a database for itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Another process has it.
    #[error("another process works on this database")]
    Taken,
    /// The folder of the file does not exist.
    #[error("the folder of the database is not there: {}", .0.display())]
    NoFolder(PathBuf),
    /// The lock beside the file cannot be made.
    #[error("{}: {error}", .path.display())]
    Lock {
        /// The file of the lock.
        path: PathBuf,
        /// The operating system's reason.
        error: std::io::Error,
    },
    /// The database server cannot be reached.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl DatabaseUrl {
    /// Takes the database for this process alone.
    ///
    /// # Errors
    /// Any [`ClaimError`].
    pub async fn claim(&self) -> Result<SoleOwner, ClaimError> {
        Ok(SoleOwner(match self {
            Self::SqliteMemory => Claim::Memory,
            Self::SqliteFile { path, .. } => Claim::File { _lock: lock(&path.with_added_extension("lock"))? },
            Self::Postgres(options) => match SoleClaim::take(options).await? {
                Some(claim) => Claim::Database(claim),
                None => return Err(ClaimError::Taken),
            },
        }))
    }
}

impl SoleOwner {
    /// Releases the database, so that it is free when this returns.
    pub async fn release(self) {
        match self.0 {
            Claim::File { _lock: lock } => drop(lock),
            Claim::Database(claim) => {
                if let Err(error) = claim.release().await {
                    tracing::warn!(error = %Chain(&error), "the database is given back with the connection");
                }
            }
            Claim::Memory => {}
        }
    }
}

fn lock(path: &Path) -> Result<File, ClaimError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return Err(ClaimError::NoFolder(folder.to_owned()));
    }
    let failed = |error| ClaimError::Lock { path: path.to_owned(), error };
    let file = File::create(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ClaimError::Taken),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Any number that nobody else uses. It must never change: processes of different versions exclude each other by it.
const LOCK: &str = "SELECT pg_try_advisory_lock(28834229018419051)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(28834229018419051)";

/// The advisory lock of a database, held as long as its connection lives.
#[derive(Debug)]
struct SoleClaim {
    connection: PgConnection,
}

impl SoleClaim {
    /// Takes the database; `None` when another process has it.
    async fn take(options: &PgConnectOptions) -> Result<Option<Self>, StorageError> {
        let mut connection = options.connect().await.map_err(storage_error)?;
        let (taken,): (bool,) =
            sqlx::query_as(LOCK).fetch_one(&mut connection).await.map_err(storage_error)?;
        Ok(taken.then_some(Self { connection }))
    }

    /// Releases the database at once. Without it the server does so when it notices that the connection is gone.
    ///
    /// # Errors
    /// The server cannot be told; the connection is gone all the same.
    async fn release(mut self) -> Result<(), StorageError> {
        sqlx::query(UNLOCK).execute(&mut self.connection).await.map_err(storage_error)?;
        self.connection.close().await.map_err(storage_error)
    }
}
