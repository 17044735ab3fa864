//! One process a database, where streams are in the database: two would run turns of one session at
//! the same time.

use std::fs::{File, TryLockError};
use std::path::Path;

use flowsdk_core::fault::BoxError;
use flowsdk_store::sql::DatabaseUrl;

/// Held while the process lives; the operating system gives it back however the process ends.
#[derive(Debug)]
pub(super) struct SoleOwner {
    _lock: Option<File>,
}

/// Takes the database for this process alone. A file is locked by the operating system; a Postgres
/// database is guarded by an advisory lock in the store.
pub(super) fn claim(url: &DatabaseUrl) -> Result<SoleOwner, BoxError> {
    let DatabaseUrl::SqliteFile(path) = url else {
        return Ok(SoleOwner { _lock: None });
    };
    Ok(SoleOwner {
        _lock: Some(lock(&path.with_added_extension("lock"))?),
    })
}

fn lock(path: &Path) -> Result<File, BoxError> {
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
