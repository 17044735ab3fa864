//! `flowsdk-server backup`: a folder with a copy of a SQLite database, and of the secrets beside it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use flowsdk_core::fault::BoxError;
use flowsdk_store::blob::UNFINISHED;
use flowsdk_store::sql::DatabaseUrl;

use crate::config::media_beside;
use crate::demo::{DATABASE, DataFolder};

/// The database to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A data folder of `demo`.
    Folder(PathBuf),
    /// The address of a database, as `serve` has it. Its secrets are in the environment of the server.
    Database(String),
}

/// A backup that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BackupCommandError {
    /// The folder of the backup is there.
    #[error("{} is there already: a backup replaces nothing", .0.display())]
    Exists(PathBuf),
    /// The file system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The path that failed.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

/// Makes the folder `to`, which appears when the copy is whole and checked. The server may run meanwhile.
///
/// # Errors
/// The folder is there already, the database cannot be read or is damaged, or the copy cannot be written.
pub fn run(source: &Source, to: &Path) -> Result<(), BoxError> {
    if to.exists() {
        return Err(BackupCommandError::Exists(to.to_owned()).into());
    }
    let draft = to.with_added_extension("draft");
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| BackupCommandError::Io { path, error }
    };
    if draft.exists() {
        // Of a backup that was broken off.
        fs::remove_dir_all(&draft).map_err(at(&draft))?;
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&draft).map_err(at(&draft))?;
    let made = fill(source, &draft).and_then(|()| Ok(fs::rename(&draft, to).map_err(at(to))?));
    if made.is_err() {
        // The error tells more than one of the removal would.
        let _left = fs::remove_dir_all(&draft);
    }
    made
}

/// Copies the database, the contents of files beside it, and the secrets of a data folder, into the folder `draft`.
fn fill(source: &Source, draft: &Path) -> Result<(), BoxError> {
    let database: DatabaseUrl = match source {
        Source::Folder(folder) => {
            DataFolder::copy_secrets(folder, draft)?;
            format!("sqlite:{}", folder.join(DATABASE).display()).parse()?
        }
        Source::Database(url) => url.parse()?,
    };
    let copy = draft.join(DATABASE);
    database.back_up(&copy)?;
    // After the database, so that every content that it knows is in the copy.
    if let DatabaseUrl::SqliteFile { path, .. } = &database {
        copy_contents(&media_beside(path), &media_beside(&copy))?;
    }
    Ok(())
}

/// Copies the contents of files from the folder `from` into the folder `to`. One that is deleted meanwhile is left out.
fn copy_contents(from: &Path, to: &Path) -> Result<(), BackupCommandError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| BackupCommandError::Io { path, error }
    };
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(at(from)(error)),
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(to).map_err(at(to))?;
    for entry in entries {
        let entry = entry.map_err(at(from))?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(at(&path))?;
        if kind.is_dir() && entry.file_name() != UNFINISHED {
            copy_contents(&path, &copy)?;
        } else if kind.is_file() {
            // A content never changes, so both may be the same file.
            let copied = fs::hard_link(&path, &copy).or_else(|_| fs::copy(&path, &copy).map(drop));
            match copied {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(&path)(error)),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;
    use flowsdk_store::sql::{OutboxRoutes, SqlStore};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_backup_of_a_data_folder_is_a_data_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
        let cx = OpContext::system();
        let before = DataFolder::open(&data, cx.ids()).expect("opens");
        let url = before.value("DATABASE_URL").expect("an address").parse().expect("an address");
        let store = SqlStore::connect(&url, OutboxRoutes::relayed()).await.expect("connects");
        let contents = data.join("flowsdk.media");
        fs::create_dir_all(contents.join("ab")).expect("a folder");
        fs::create_dir_all(contents.join("unfinished")).expect("a folder");
        fs::write(contents.join("ab/fileab"), "content").expect("a file");
        fs::write(contents.join("unfinished/half"), "half").expect("a file");
        run(&Source::Folder(data.clone()), &copy).expect("copies");
        let after = DataFolder::open(&copy, cx.ids()).expect("opens");
        assert_eq!(before.value("CRYPTO_SECRET"), after.value("CRYPTO_SECRET"));
        assert!(copy.join(DATABASE).exists());
        assert_eq!(fs::read(copy.join("flowsdk.media/ab/fileab")).expect("a content"), b"content");
        assert!(!copy.join("flowsdk.media/unfinished").exists());
        let again = run(&Source::Folder(data), &copy).expect_err("it is there");
        assert!(again.to_string().contains("replaces nothing"), "{again}");
        store.close().await;
    }

    #[test]
    fn a_backup_that_fails_leaves_no_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let copy = folder.path().join("copy");
        for source in [
            Source::Folder(folder.path().join("none")),
            Source::Database(format!("sqlite:{}", folder.path().join("none.db").display())),
            Source::Database("postgres://localhost/x".to_owned()),
            Source::Database("none".to_owned()),
        ] {
            run(&source, &copy).expect_err("nothing to copy");
            let left = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(left, 0, "{source:?}");
        }
    }
}
