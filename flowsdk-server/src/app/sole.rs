//! One process a database, where streams are in the database: two would run turns of one session at
//! the same time.

use std::fs::{File, TryLockError};
use std::path::Path;

use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_store::sql::{DatabaseUrl, SoleClaim};

/// Held while the process lives; the operating system or the database gives it back however the process
/// ends.
#[derive(Debug)]
pub(crate) enum SoleOwner {
    /// The lock of a file.
    File { _lock: File },
    /// The lock of a database.
    Database { claim: SoleClaim },
    /// A database in memory is of one process anyway.
    Memory,
}

impl SoleOwner {
    /// Gives the database back, so that it is free when this returns.
    pub(super) async fn release(self) {
        match self {
            Self::File { _lock: lock } => drop(lock),
            Self::Database { claim } => {
                if let Err(error) = claim.release().await {
                    tracing::warn!(error = %Chain(&error), "the database is given back with the connection");
                }
            }
            Self::Memory => {}
        }
    }
}

/// Takes the database for this process alone.
pub(crate) async fn claim(url: &DatabaseUrl) -> Result<SoleOwner, BoxError> {
    match url {
        DatabaseUrl::SqliteMemory => Ok(SoleOwner::Memory),
        DatabaseUrl::SqliteFile { path, .. } => {
            Ok(SoleOwner::File { _lock: lock(&path.with_added_extension("lock"))? })
        }
        DatabaseUrl::Postgres(options) => match SoleClaim::take(options).await? {
            Some(claim) => Ok(SoleOwner::Database { claim }),
            None => Err("another server works on this database; several need REDIS_URL".into()),
        },
    }
}

fn lock(path: &Path) -> Result<File, BoxError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        return Err(format!("the folder of the database is not there: {}", folder.display()).into());
    }
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(format!(
            "{} is locked: another server works on this database; several need REDIS_URL",
            path.display()
        )
        .into()),
        Err(TryLockError::Error(error)) => Err(format!("{}: {error}", path.display()).into()),
    }
}
