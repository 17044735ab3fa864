//! Which revision of a draft each file of the user has, so that a push replaces no other one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{RemoteError, SessionFile};
use crate::private_file::replace_private;

/// The revisions that files had when they were last pulled or pushed, in a file beside the login.
#[derive(Debug)]
pub(super) struct Revisions(PathBuf);

/// Of each server, of each flow, of each file.
type Known = BTreeMap<String, BTreeMap<String, BTreeMap<PathBuf, i64>>>;

impl Revisions {
    /// Those of the user with this login.
    pub(super) fn beside(session: &SessionFile) -> Self {
        Self(session.path().with_file_name("revisions.json"))
    }

    /// Returns the revision of the draft of `flow` that `file` has, if it was pulled or pushed before.
    pub(super) fn of(&self, server: &str, flow: &str, file: &Path) -> Result<Option<i64>, RemoteError> {
        let file = self.absolute(file)?;
        let known = self.load()?;
        Ok(known.get(server).and_then(|flows| flows.get(flow)?.get(&file)).copied())
    }

    /// Returns the flows whose draft `file` was pulled from or pushed to.
    pub(super) fn flows(&self, server: &str, file: &Path) -> Result<Vec<String>, RemoteError> {
        let file = self.absolute(file)?;
        let mut known = self.load()?;
        let flows = known.remove(server).unwrap_or_default().into_iter();
        Ok(flows.filter(|(_, files)| files.contains_key(&file)).map(|(flow, _)| flow).collect())
    }

    /// Notes that `file` has this revision of the draft of `flow`.
    pub(super) fn note(
        &self,
        server: &str,
        flow: &str,
        file: &Path,
        revision: i64,
    ) -> Result<(), RemoteError> {
        let file = self.absolute(file)?;
        let mut known = self.load()?;
        let flows = known.entry(server.to_owned()).or_default();
        flows.entry(flow.to_owned()).or_default().insert(file, revision);
        let text = serde_json::to_vec_pretty(&known).map_err(|error| self.failed(error.into()))?;
        replace_private(&self.0, &text).map_err(|error| self.failed(error))
    }

    fn load(&self) -> Result<Known, RemoteError> {
        match fs::read(&self.0) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| RemoteError::Damaged {
                path: self.0.clone(),
                next: "delete it; then `flow pull` or `flow push --force` notes what each file is",
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Known::new()),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Two links to one file are one file.
    fn absolute(&self, file: &Path) -> Result<PathBuf, RemoteError> {
        fs::canonicalize(file).map_err(|source| RemoteError::File { path: file.to_owned(), source })
    }

    fn failed(&self, source: io::Error) -> RemoteError {
        RemoteError::File { path: self.0.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_that_of_a_file_a_flow_and_a_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
        for file in [&a, &b] {
            fs::write(file, "{}").expect("written");
        }
        let revisions = Revisions::beside(&SessionFile::at(folder.path().join("flowsdk/session.json")));
        assert_eq!(revisions.of("http://s", "f", &a).expect("read"), None);
        revisions.note("http://s", "f", &a, 3).expect("noted");
        revisions.note("http://s", "f", &a, 4).expect("noted");
        let of = |server, flow, file: &Path| revisions.of(server, flow, file).expect("read");
        assert_eq!(of("http://s", "f", &a), Some(4));
        assert_eq!(of("http://s", "f", &folder.path().join(".").join("a.json")), Some(4));
        revisions.note("http://s", "e", &a, 1).expect("noted");
        let flows = |server, file: &Path| revisions.flows(server, file).expect("read");
        assert_eq!(flows("http://s", &a), ["e", "f"]);
        assert!(flows("http://s", &b).is_empty() && flows("http://t", &a).is_empty());
        assert_eq!([of("http://t", "f", &a), of("http://s", "g", &a), of("http://s", "f", &b)], [None; 3]);
    }
}
