//! Copies of a SQLite database.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use flowsdk_core::fault::StorageError;
use rusqlite::{Connection, OpenFlags};

use super::DatabaseUrl;
use super::sqlite::storage_error;

/// The reason why a database cannot be copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// It is no SQLite file: a Postgres server has `pg_dump`, a database in memory ends with its process.
    #[error("only a SQLite file is copied; pg_dump copies a Postgres database")]
    NotAFile,
    /// The copy would replace a file.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// The database cannot be read, or the copy cannot be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The copy shows that the database is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The path that failed.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl DatabaseUrl {
    /// Copies a SQLite file as it is at one moment, while servers write it or not, and checks the copy. It blocks its
    /// thread for as long as that takes. An error may leave a part of the copy.
    ///
    /// # Errors
    /// Any [`BackupError`].
    pub fn back_up(&self, to: &Path) -> Result<(), BackupError> {
        let Self::SqliteFile { path, .. } = self else {
            return Err(BackupError::NotAFile);
        };
        if to.exists() {
            return Err(BackupError::Exists(to.to_owned()));
        }
        let failed = |error| BackupError::Io { path: to.to_owned(), error };
        // Made before SQLite makes it for everybody to read.
        super::private::create(to)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let source = Connection::open_with_flags(path, flags).map_err(storage_error)?;
        let name = to.to_str().ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        // SQLite fills an empty file, and refuses any other.
        source.execute("VACUUM INTO ?1", [name]).map_err(storage_error)?;
        drop(source);
        File::open(to).and_then(|copy| copy.sync_all()).map_err(failed)?;
        check(to)
    }
}

/// Reads the whole copy.
fn check(copy: &Path) -> Result<(), BackupError> {
    let opened =
        Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(storage_error)?;
    let found: String =
        opened.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(storage_error)?;
    if found == "ok" { Ok(()) } else { Err(BackupError::Damaged(found)) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use flowsdk_core::store::{Store as _, Transaction as _};

    use super::*;
    use crate::sql::{OutboxRoutes, SqlStore};

    fn at(path: &Path) -> DatabaseUrl {
        format!("sqlite:{}", path.display()).parse().expect("an address")
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_database_is_copied_while_it_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, copy) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let store = SqlStore::connect(&at(&source), OutboxRoutes::relayed()).await.expect("connects");
        // Committed, still in the log of the database; and another one that is open meanwhile.
        let writing = store.begin().await.expect("begins");
        at(&source).back_up(&copy).expect("copies");
        writing.commit().await.expect("commits");
        let mode = fs::metadata(&copy).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "nobody else reads it");
        let restored = SqlStore::connect(&at(&copy), OutboxRoutes::relayed()).await.expect("connects");
        restored.ping().await.expect("answers");
        assert!(matches!(at(&source).back_up(&copy), Err(BackupError::Exists(_))));
        assert!(matches!(DatabaseUrl::SqliteMemory.back_up(&copy), Err(BackupError::NotAFile)));
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_not_copied_in_silence() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, copy) = (folder.path().join("a.db"), folder.path().join("b.db"));
        assert!(at(&source).back_up(&copy).is_err(), "it is not there");
        assert!(!source.exists(), "and is not made");
        fs::write(&source, [7; 8_192]).expect("writes");
        fs::remove_file(&copy).expect("removes");
        assert!(at(&source).back_up(&copy).is_err());
    }
}
