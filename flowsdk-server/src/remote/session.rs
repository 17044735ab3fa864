//! The login of a user at a server, in a file that the user alone reads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::RemoteError;
use crate::private_file::replace_private;

/// A login at a server.
#[derive(Debug, Clone)]
pub struct Session {
    /// The address of the server, without a slash at its end.
    pub url: String,
    /// The e-mail address of the user.
    pub email: String,
    /// The token of requests.
    pub access_token: SecretString,
    /// The token that new tokens are had for.
    pub refresh_token: SecretString,
}

/// The file, as JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    url: String,
    email: String,
    access_token: String,
    refresh_token: String,
}

/// Where the login is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile(PathBuf);

impl SessionFile {
    /// The file in the folder of configurations of the user: `flowsdk/session.json` in `XDG_CONFIG_HOME`, or in `.config`
    /// of `HOME`.
    ///
    /// # Errors
    /// Neither variable is set.
    pub fn of_user() -> io::Result<Self> {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let configurations = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
        let configurations = configurations.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "neither XDG_CONFIG_HOME nor HOME is set")
        })?;
        Ok(Self(configurations.join("flowsdk/session.json")))
    }

    /// A file at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the login, if there is one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn load(&self) -> Result<Option<Session>, RemoteError> {
        let bytes = match fs::read(&self.0) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(error)),
        };
        let damaged =
            |_| RemoteError::Damaged { path: self.0.clone(), next: "run `flowsdk-server login URL` again" };
        let stored: Stored = serde_json::from_slice(&bytes).map_err(damaged)?;
        Ok(Some(Session {
            url: stored.url,
            email: stored.email,
            access_token: stored.access_token.into(),
            refresh_token: stored.refresh_token.into(),
        }))
    }

    /// Keeps a login in place of another. A crash leaves either one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, session: &Session) -> Result<(), RemoteError> {
        let stored = Stored {
            url: session.url.clone(),
            email: session.email.clone(),
            access_token: session.access_token.expose_secret().to_owned(),
            refresh_token: session.refresh_token.expose_secret().to_owned(),
        };
        let text = serde_json::to_vec_pretty(&stored).map_err(|error| self.failed(error.into()))?;
        replace_private(&self.0, &text).map_err(|error| self.failed(error))
    }

    /// Forgets the login; returns whether there was one.
    ///
    /// # Errors
    /// The file cannot be deleted.
    pub fn remove(&self) -> Result<bool, RemoteError> {
        match fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, source: io::Error) -> RemoteError {
        RemoteError::File { path: self.0.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_login_is_kept_for_its_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = SessionFile::at(folder.path().join("flowsdk/session.json"));
        assert!(file.load().expect("read").is_none());
        let session = Session {
            url: "http://127.0.0.1:1".to_owned(),
            email: "a@b.c".to_owned(),
            access_token: "access".to_owned().into(),
            refresh_token: "refresh".to_owned().into(),
        };
        file.save(&session).expect("kept");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(file.path()), mode(&folder.path().join("flowsdk"))), (0o600, 0o700));
        let loaded = file.load().expect("read").expect("a login");
        assert_eq!(loaded.refresh_token.expose_secret(), "refresh");
        assert!(!format!("{loaded:?}").contains("refresh\""), "{loaded:?}");
        assert!(file.remove().expect("deleted") && !file.remove().expect("gone"));
        fs::write(file.path(), "{").expect("written");
        let broken = file.load().expect_err("not JSON").to_string();
        assert!(broken.contains("session.json"), "{broken}");
    }
}
