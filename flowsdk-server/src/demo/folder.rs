//! The data folder and the secrets in it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use flowsdk_core::id::IdSource;
use serde::{Deserialize, Serialize};

use crate::private_file::write_private;

/// The database within the folder.
pub(crate) const DATABASE: &str = "flowsdk.db";
/// The secrets within the folder.
const SECRETS: &str = "secrets.json";

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The path that failed.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folder is not there, or holds something else.
    #[error("there is no data folder at {path}")]
    NoFolder {
        /// The path of the folder.
        path: PathBuf,
    },
    /// The folder has no agents.
    #[error(
        "there are no agents in {path}: name the data folder of a demonstration that runs, such as `data`"
    )]
    NoDesk {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A database is there and the secrets that it was written with are not.
    #[error(
        "{path} is missing beside a database that needs it: restore it from a backup, or delete the whole folder to begin \
         anew"
    )]
    SecretsMissing {
        /// The path that failed.
        path: PathBuf,
    },
    /// `secrets.json` is there and cannot be read. It is not replaced: the data encrypted with it would be lost.
    #[error(
        "{path} is damaged ({source}). It holds the keys of everything that is encrypted in the database: restore it from \
         a backup. Without one, delete the whole folder to start over"
    )]
    Secrets {
        /// The path that failed.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
}

/// The secrets of the folder, made at the first start.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secrets {
    crypto_secret: String,
    jwt_access_secret: String,
    jwt_refresh_secret: String,
}

/// A folder with a database and its secrets.
pub struct DataFolder {
    path: PathBuf,
    secrets: Secrets,
}

impl DataFolder {
    /// Opens `path`, making the folder (0700) and its secrets (0600) when they are not there.
    pub fn open(path: &Path, ids: &dyn IdSource) -> Result<Self, FolderError> {
        let io = |source| FolderError::Io { path: path.to_owned(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
        let file = path.join(SECRETS);
        let secrets = match fs::read(&file) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| FolderError::Secrets { path: file, source })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.join(DATABASE).exists() {
                    return Err(FolderError::SecretsMissing { path: file });
                }
                create_secrets(&file, ids)?
            }
            Err(source) => return Err(FolderError::Io { path: file, source }),
        };
        Ok(Self { path: path.to_owned(), secrets })
    }

    /// Returns the address of the database of the data folder `path`, which is not made.
    ///
    /// # Errors
    /// There is no such folder.
    pub(crate) fn database_url(path: &Path) -> Result<String, FolderError> {
        let file = path.join(DATABASE);
        if !file.is_file() || !path.join(SECRETS).is_file() {
            return Err(FolderError::NoFolder { path: path.to_owned() });
        }
        Ok(format!("sqlite:{}", file.display()))
    }

    /// Copies the secrets of the data folder `from` into the folder `to`.
    ///
    /// # Errors
    /// They are not there, or cannot be written.
    pub(crate) fn copy_secrets(from: &Path, to: &Path) -> Result<(), FolderError> {
        let (from, to) = (from.join(SECRETS), to.join(SECRETS));
        let bytes = fs::read(&from).map_err(|source| FolderError::Io { path: from, source })?;
        write_private(&to, &bytes).map_err(|source| FolderError::Io { path: to, source })
    }

    /// The path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The value of a configuration name, as the folder gives it.
    pub fn value(&self, name: &str) -> Option<String> {
        match name {
            "DATABASE_URL" => Some(format!("sqlite:{}", self.path.join(DATABASE).display())),
            "CRYPTO_SECRET" => Some(self.secrets.crypto_secret.clone()),
            "JWT_ACCESS_SECRET" => Some(self.secrets.jwt_access_secret.clone()),
            "JWT_REFRESH_SECRET" => Some(self.secrets.jwt_refresh_secret.clone()),
            _ => None,
        }
    }
}

/// Written beside and renamed, so that a crash leaves either no file or a whole one.
fn create_secrets(file: &Path, ids: &dyn IdSource) -> Result<Secrets, FolderError> {
    let secrets = Secrets {
        crypto_secret: ids.secret(2).chars().take(32).collect(),
        jwt_access_secret: ids.secret(2),
        jwt_refresh_secret: ids.secret(2),
    };
    let draft = file.with_extension("draft");
    let write = || -> io::Result<()> {
        let text = serde_json::to_vec_pretty(&secrets).map_err(io::Error::other)?;
        write_private(&draft, &text)?;
        fs::rename(&draft, file)
    };
    write().map_err(|source| FolderError::Io { path: file.to_owned(), source })?;
    Ok(secrets)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use flowsdk_core::context::OpContext;

    use super::*;

    #[test]
    fn a_second_start_finds_the_same_secrets_and_nobody_else_reads_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        let cx = OpContext::system();
        let first = DataFolder::open(&path, cx.ids()).expect("opens");
        let second = DataFolder::open(&path, cx.ids()).expect("opens");
        assert_eq!(first.value("CRYPTO_SECRET"), second.value("CRYPTO_SECRET"));
        assert_eq!(first.value("CRYPTO_SECRET").map(|s| s.len()), Some(32));
        let mode = fs::metadata(path.join("secrets.json")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn secrets_that_are_gone_are_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(DATABASE), "").expect("writes");
        let opened = DataFolder::open(folder.path(), OpContext::system().ids());
        assert!(matches!(opened, Err(FolderError::SecretsMissing { .. })));
    }

    #[test]
    fn damaged_secrets_are_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("secrets.json"), "{").expect("writes");
        let opened = DataFolder::open(folder.path(), OpContext::system().ids());
        assert!(matches!(opened, Err(FolderError::Secrets { .. })));
    }
}
