//! The empty folder of the trial.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::dist::archive::copy;
use crate::dist::linked;

/// Where the server lies in the root folder.
const SERVER: &str = "flowsdk-server";
/// Where it runs, and writes its data.
const HOME: &str = "home";
/// A folder with the server in it. On Linux it is a root folder: it holds the libraries that the server is linked to,
/// and a file in place of `/dev/null`.
pub(super) struct Root(TempDir);

impl Root {
    /// Makes the folder for a server.
    pub(super) fn with(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        copy(program, &folder.path().join(SERVER))?;
        fs::create_dir(folder.path().join(HOME))?;
        if cfg!(target_os = "linux") {
            fs::create_dir(folder.path().join("proc"))?;
            fs::create_dir(folder.path().join("dev"))?;
            // Every container has the device; nobody but an administrator can make one.
            fs::write(folder.path().join("dev/null"), "")?;
            for library in linked::libraries(program)? {
                copy(&library, &folder.path().join(library.strip_prefix("/")?))?;
            }
        }
        Ok(Self(folder))
    }

    /// Returns the command that runs the server in the folder, without anything of this machine's environment.
    ///
    /// On Linux the process sees nothing but the folder and the kernel's `/proc`. It ends with the command.
    pub(super) fn server(&self, arguments: &[&str]) -> Command {
        let mut command = if cfg!(target_os = "linux") { self.enter() } else { self.plain() };
        command.args(arguments).env_clear().stdin(Stdio::null());
        command
    }

    fn enter(&self) -> Command {
        let mut command = Command::new("/usr/bin/unshare");
        // Only an administrator may change the root folder; a namespace of users makes one of anybody.
        if !geteuid().is_root() {
            command.arg("--map-root-user");
        }
        command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "--wd=/home", "--root"]);
        command.arg(self.0.path()).arg(format!("/{SERVER}"));
        command
    }

    fn plain(&self) -> Command {
        let mut command = Command::new(self.0.path().join(SERVER));
        command.current_dir(self.0.path().join(HOME));
        command
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if cfg!(target_os = "linux") { "root folder" } else { "folder" };
        write!(f, "the {kind} {}, with nothing else in it", self.0.path().display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_holds_the_program_and_what_it_is_linked_to() {
        let program = Path::new("/bin/sh");
        let root = Root::with(program).expect("a folder");
        let folder = root.0.path();
        assert!(folder.join(SERVER).is_file() && folder.join(HOME).is_dir());
        if cfg!(target_os = "linux") {
            let libraries = linked::libraries(program).expect("listed");
            assert!(!libraries.is_empty());
            for library in libraries {
                let copy = folder.join(library.strip_prefix("/").expect("from the root"));
                assert!(copy.is_file(), "{} is missing", library.display());
            }
        }
        let names = fs::read_dir(folder).expect("listed").flatten().map(|entry| entry.file_name());
        assert!(names.into_iter().all(|name| name != "etc" && name != "bin"), "nothing else is there");
    }
}
