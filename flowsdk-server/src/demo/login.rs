//! Who sits at the desks of the demonstration, in a file of its data folder.

use std::fs;
use std::io;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::FolderError;
use crate::private_file::replace_private;

/// The file within the folder.
const FILE: &str = "desk.json";

/// How the agents of a demonstration log in.
#[derive(Debug, Clone)]
pub struct DeskLogin {
    /// Where the server listens, or listened last.
    pub url: String,
    /// The e-mail addresses of the agents.
    pub emails: Vec<String>,
    /// The password of each of them.
    pub(super) password: SecretString,
}

/// The file, as JSON.
#[derive(Serialize, Deserialize)]
struct Stored {
    url: String,
    emails: Vec<String>,
    password: String,
}

impl DeskLogin {
    /// Reads the file of a data folder.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, FolderError> {
        let no_desk = || FolderError::NoDesk { path: folder.to_owned() };
        Self::find(folder)?.ok_or_else(no_desk)
    }

    /// The same; `None` where there is no file, or one that is damaged: it holds nothing that cannot be made anew.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>, FolderError> {
        let path = folder.join(FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FolderError::Io { path, source }),
        };
        let stored = serde_json::from_slice::<Stored>(&bytes).ok();
        Ok(stored.map(|Stored { url, emails, password }| Self { url, emails, password: password.into() }))
    }

    /// Writes the file, which its owner alone reads.
    pub(super) fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let path = folder.join(FILE);
        let password = self.password.expose_secret().to_owned();
        let stored = Stored { url: self.url.clone(), emails: self.emails.clone(), password };
        let written = serde_json::to_vec_pretty(&stored).map_err(io::Error::other);
        written
            .and_then(|text| replace_private(&path, &text))
            .map_err(|source| FolderError::Io { path, source })
    }

    /// Returns the password of an agent of the demonstration.
    pub fn password_of(&self, email: &str) -> Option<SecretString> {
        let is_known = self.emails.iter().any(|known| known.eq_ignore_ascii_case(email));
        is_known.then(|| self.password.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_password_is_that_of_the_agents_and_their_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(DeskLogin::read(folder.path()), Err(FolderError::NoDesk { .. })));
        let login = DeskLogin {
            url: "http://127.0.0.1:1".to_owned(),
            emails: vec!["ana@flowsdk.local".to_owned()],
            password: "agents-password".into(),
        };
        login.write(folder.path()).expect("written");
        let mode = fs::metadata(folder.path().join(FILE)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = DeskLogin::read(folder.path()).expect("there");
        assert_eq!(read.url, login.url);
        let password = read.password_of("Ana@flowsdk.local").expect("known");
        assert_eq!(password.expose_secret(), "agents-password");
        assert!(read.password_of("eve@flowsdk.local").is_none());
        assert!(!format!("{read:?}").contains("agents-password"));
        fs::write(folder.path().join(FILE), "{").expect("written");
        assert!(DeskLogin::find(folder.path()).expect("read").is_none(), "damaged, to be made anew");
    }
}
