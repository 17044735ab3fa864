//! Who may read the files of a database: they hold conversations and hashes of passwords.

use std::fs;
use std::io;
use std::path::Path;

use flowsdk_core::fault::StorageError;

/// What everybody may do, among the bits of a file's mode.
#[cfg(unix)]
const OTHERS: u32 = 0o007;

/// Creates a file for its owner alone; one that is there stays. SQLite gives a write-ahead log the permissions of its
/// database.
pub(super) fn create(path: &Path) -> Result<(), StorageError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(StorageError::Other(format!("{}: {error}", path.display()).into()))
        }
        _ => Ok(()),
    }
}

/// Takes from everybody the right to read a database that was made before its files were private, and its logs.
pub(super) fn close_database(path: &Path) {
    close(path);
    for end in ["-wal", "-shm"] {
        let mut log = path.as_os_str().to_owned();
        log.push(end);
        close(Path::new(&log));
    }
}

/// Takes from everybody the right to use a file. A group keeps what an operator gave it. A file of another owner is
/// left as it is, with a warning; one that is not there is no error.
pub(super) fn close(path: &Path) {
    match take_rights(path) {
        Ok(false) => {}
        Ok(true) => tracing::info!(file = %path.display(), "other accounts cannot read the file any more"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(file = %path.display(), %error, "other accounts can read the file"),
    }
}

/// Returns whether there was something to take away.
#[cfg(unix)]
fn take_rights(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = fs::metadata(path)?.permissions().mode();
    if mode & OTHERS == 0 {
        return Ok(false);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & !OTHERS))?;
    Ok(true)
}

#[cfg(not(unix))]
fn take_rights(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use crate::sql::{OutboxRoutes, SqlStore};

    #[tokio::test(flavor = "multi_thread")]
    async fn files_of_an_earlier_version_become_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.db");
        let url = format!("sqlite:{}", path.display()).parse().expect("an address");
        SqlStore::connect(&url, OutboxRoutes::relayed()).await.expect("connects").close().await;
        let modes = || {
            let files = std::fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("a file"));
            let mode = |file: std::fs::DirEntry| file.metadata().expect("there").permissions().mode() & 0o777;
            files.map(mode).collect::<Vec<_>>()
        };
        for (before, after) in [(0o644, 0o640), (0o600, 0o600), (0o660, 0o660), (0o666, 0o660)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before)).expect("set");
            let store = SqlStore::connect(&url, OutboxRoutes::relayed()).await.expect("connects");
            assert!(
                modes().len() > 1 && modes().iter().all(|&mode| mode == after),
                "{before:o}: {:?}",
                modes()
            );
            store.close().await;
        }
    }
}
