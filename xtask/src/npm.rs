//! The JavaScript packages that the tests and the web bundle need.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::packages::Program;
use crate::process;

/// The sources of the pages.
pub(crate) const WEB: &str = "flowsdk-server/web";
/// Every folder in it may be a JavaScript package.
const CONFORMANCE: &str = "flowsdk-server/tests/conformance";
/// The client that is generated from the OpenAPI document.
const API_CLIENT: &str = "clients/typescript";

/// Installs the packages of every folder whose lock file is newer than the installation.
pub(crate) fn install_stale(npm: &Program, root: &Path) -> Result<()> {
    for folder in locked_folders(root) {
        if is_stale(&folder) {
            eprintln!(
                "xtask: installing the packages of {}",
                folder.strip_prefix(root).unwrap_or(&folder).display()
            );
            process::must(&mut clean_install(npm, &folder))?;
        }
    }
    Ok(())
}

/// `npm ci`, without the browsers that some packages download for themselves.
pub(crate) fn clean_install(npm: &Program, folder: &Path) -> Command {
    let mut command = npm_in(npm, folder);
    command
        .args(["ci", "--no-audit", "--no-fund"])
        .env("PUPPETEER_SKIP_DOWNLOAD", "1")
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    command
}

/// Returns the command `npm run SCRIPT`.
pub(crate) fn script(npm: &Program, folder: &Path, name: &str) -> Command {
    let mut command = npm_in(npm, folder);
    command.args(["run", name]);
    command
}

fn npm_in(npm: &Program, folder: &Path) -> Command {
    let mut command = Command::new(&npm.path);
    command.current_dir(folder).stdout(io::stderr());
    command
}

fn locked_folders(root: &Path) -> Vec<PathBuf> {
    let suites =
        fs::read_dir(root.join(CONFORMANCE)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = suites.chain([root.join(API_CLIENT), root.join(WEB)]).collect();
    folders.retain(|folder| folder.join("package-lock.json").is_file());
    folders.sort();
    folders
}

/// npm writes its own record of the installed packages when it is done.
fn is_stale(folder: &Path) -> bool {
    let time = |name: &str| fs::metadata(folder.join(name)).and_then(|metadata| metadata.modified()).ok();
    time("node_modules/.package-lock.json") < time("package-lock.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn write(path: &Path, age: Duration) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let file = fs::File::create(path).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000) - age).expect("a time");
    }

    #[test]
    fn only_folders_with_a_lock_file_count() {
        let root = tempfile::tempdir().expect("a directory");
        assert_eq!(locked_folders(root.path()), Vec::<PathBuf>::new());
        write(&root.path().join(WEB).join("package-lock.json"), Duration::ZERO);
        write(&root.path().join(CONFORMANCE).join("sockets/package-lock.json"), Duration::ZERO);
        write(&root.path().join(CONFORMANCE).join("fixtures/a.json"), Duration::ZERO);
        assert_eq!(
            locked_folders(root.path()),
            [root.path().join(CONFORMANCE).join("sockets"), root.path().join(WEB)]
        );
    }

    #[test]
    fn a_lock_file_newer_than_the_installation_is_stale() {
        let folder = tempfile::tempdir().expect("a directory");
        let installed = folder.path().join("node_modules/.package-lock.json");
        write(&folder.path().join("package-lock.json"), Duration::from_secs(60));
        assert!(is_stale(folder.path()));
        write(&installed, Duration::from_secs(30));
        assert!(!is_stale(folder.path()));
        write(&installed, Duration::from_secs(90));
        assert!(is_stale(folder.path()));
    }
}
