//! `flowsdk-server restore`: a data folder from a copy that `backup` made.

use std::fs;
use std::path::{Path, PathBuf};

use flowsdk_core::fault::BoxError;
use flowsdk_store::sql::{ClaimError, DatabaseUrl, Hold};

use crate::backup_command::{self, Source};
use crate::demo::{DATABASE, DataFolder};

/// A copy that cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreCommandError {
    /// The folder is there, and nobody said that it may be replaced.
    #[error("{} is there already: --replace moves it to {} first", .folder.display(), .aside.display())]
    Exists {
        /// The folder to restore to.
        folder: PathBuf,
        /// The folder that it would be moved to.
        aside: PathBuf,
    },
    /// An earlier restoration has moved a folder there.
    #[error("{} is there already, of an earlier restoration: move it away or delete it", .0.display())]
    Aside(PathBuf),
    /// A server works in the folder.
    #[error("a server works in {}: stop it first", .0.display())]
    InUse(PathBuf),
}

/// Copies `copy`, which is checked, into the data folder `to`. With `replace` a folder that is there and in which no server
/// works is moved aside; nothing is ever deleted.
///
/// # Errors
/// There is no whole copy, the folder is there or in use, or cannot be written.
pub async fn run(copy: &Path, to: &Path, replace: bool) -> Result<(), BoxError> {
    // Named early: a copy without secrets opens nothing of what it holds.
    DataFolder::database_url(copy)?;
    if !to.exists() {
        return backup_command::run(&Source::Folder(copy.to_owned()), to);
    }
    let aside = to.with_added_extension("replaced");
    if !replace {
        return Err(RestoreCommandError::Exists { folder: to.to_owned(), aside }.into());
    }
    if aside.exists() {
        return Err(RestoreCommandError::Aside(aside).into());
    }
    let url: DatabaseUrl = format!("sqlite:{}", to.join(DATABASE).display()).parse()?;
    // Held until both folders are where they belong.
    let claim = url.claim(Hold::Alone).await.map_err(|error| match error {
        ClaimError::Taken => BoxError::from(RestoreCommandError::InUse(to.to_owned())),
        error => error.into(),
    })?;
    let restored = to.with_added_extension("restored");
    backup_command::run(&Source::Folder(copy.to_owned()), &restored)?;
    fs::rename(to, &aside)?;
    fs::rename(&restored, to)?;
    claim.release().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;
    use flowsdk_store::sql::{OutboxRoutes, SqlStore};

    use super::*;

    /// A data folder with a database in it.
    async fn folder(path: &Path) {
        let cx = OpContext::system();
        DataFolder::open(path, cx.ids()).expect("opens");
        let url = DataFolder::database_url(path);
        let url = url.unwrap_or_else(|_| format!("sqlite:{}", path.join(DATABASE).display()));
        let store = SqlStore::connect(&url.parse().expect("an address"), OutboxRoutes::relayed()).await;
        store.expect("connects").close().await;
    }

    fn secrets(path: &Path) -> Vec<u8> {
        fs::read(path.join("secrets.json")).expect("secrets")
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_copy_becomes_a_data_folder_and_replaces_none_that_is_in_use() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        folder(&at("data")).await;
        backup_command::run(&Source::Folder(at("data")), &at("copy")).expect("copied");
        run(&at("copy"), &at("fresh"), false).await.expect("restored");
        assert_eq!(secrets(&at("fresh")), secrets(&at("data")));
        folder(&at("other")).await;
        let theirs = secrets(&at("other"));
        let refused = run(&at("copy"), &at("other"), false).await.expect_err("it is there").to_string();
        assert!(refused.contains("--replace"), "{refused}");
        let url: DatabaseUrl =
            DataFolder::database_url(&at("other")).expect("there").parse().expect("an address");
        let claim = url.claim(Hold::Alone).await.expect("claimed");
        let refused = run(&at("copy"), &at("other"), true).await.expect_err("in use").to_string();
        assert!(refused.contains("a server works in"), "{refused}");
        assert_eq!(secrets(&at("other")), theirs);
        claim.release().await;
        run(&at("copy"), &at("other"), true).await.expect("restored");
        assert_eq!(secrets(&at("other")), secrets(&at("data")));
        assert_eq!(secrets(&at("other.replaced")), theirs);
        run(&at("copy"), &at("other"), true).await.expect_err("an earlier one is aside");
        run(&at("none"), &at("new"), false).await.expect_err("no copy");
        assert!(!at("new").exists());
    }
}
