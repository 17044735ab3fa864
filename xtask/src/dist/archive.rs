//! The archive to download, and the checksums beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use crate::{process, workspace};

/// What the archive holds beside the server, by its path in the workspace.
const WITH_IT: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "docs/configuration.md",
    "docs/production.md",
];
/// The samples of a deployment.
const SAMPLES: &str = "deploy";

/// Packs the server and its papers as `NAME.tar.gz`, with one folder `NAME` in it.
pub(super) fn pack(program: &Path, folder: &Path, name: &str) -> Result<PathBuf> {
    let root = workspace::root();
    let scratch = tempfile::tempdir()?;
    let content = scratch.path().join(name);
    copy(program, &content.join("flowsdk-server"))?;
    for path in WITH_IT {
        copy(&root.join(path), &content.join(path))?;
    }
    for sample in fs::read_dir(root.join(SAMPLES))? {
        let sample = sample?;
        copy(&sample.path(), &content.join(SAMPLES).join(sample.file_name()))?;
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    process::must(tar.arg("-czf").arg(&archive).arg("-C").arg(scratch.path()).arg(name))?;
    Ok(archive)
}

/// Copies a file with its permissions, and makes the folders that lead to it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Writes `NAME.sha256`, as `sha256sum --check` reads it.
pub(super) fn write_sums(files: &[PathBuf], folder: &Path, name: &str) -> Result<PathBuf> {
    let sums = folder.join(format!("{name}.sha256"));
    let lines = files.iter().map(|file| line(file)).collect::<Result<String>>()?;
    fs::write(&sums, lines)?;
    Ok(sums)
}

fn line(file: &Path) -> Result<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let digits: String = Sha256::digest(fs::read(file)?).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{digits}  {name}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.tar.gz");
        fs::write(&file, "abc").expect("written");
        let sums = write_sums(&[file], folder.path(), "a").expect("summed");
        let text = fs::read_to_string(sums).expect("read");
        // The sample of FIPS 180-2.
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.tar.gz\n");
    }

    #[test]
    fn the_archive_unpacks_into_one_folder_with_what_it_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = pack(Path::new("/bin/sh"), folder.path(), "it").expect("packed");
        let mut tar = Command::new("tar");
        process::must(tar.arg("-xzf").arg(archive).arg("-C").arg(folder.path())).expect("unpacked");
        let content = folder.path().join("it");
        for path in WITH_IT.into_iter().chain(["flowsdk-server", "deploy/flowsdk.service"]) {
            assert!(content.join(path).is_file(), "{path} is missing");
        }
        let mut run = Command::new(content.join("flowsdk-server"));
        process::must(run.args(["-c", "exit 0"])).expect("it is a program still");
    }
}
