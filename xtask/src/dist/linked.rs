//! The libraries that the server asks of a system.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::{glibc, output_of};

/// The parts of glibc and the loader: every system with glibc has them.
const OF_EVERY_SYSTEM: [&str; 8] = [
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
    "libc.so.6",
    "libdl.so.2",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
];

/// Checks that the server needs no library but those of glibc, and none that is newer than [`glibc::OLDEST`].
///
/// Only programs for Linux are checked.
///
/// # Errors
/// Names the library or the version.
pub(super) fn check(program: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let libraries = libraries(program)?;
    let strange: Vec<_> = libraries.iter().filter(|path| !is_of_every_system(path)).collect();
    ensure!(strange.is_empty(), "the program needs {strange:?}, which not every system has");
    glibc::check(&output_of(Command::new("objdump").arg("-T").arg(program))?)
}

/// Returns the libraries that the loader of this machine gives to a program.
pub(super) fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    Ok(paths(&output_of(Command::new("ldd").arg(program))?))
}

/// Returns the paths in what `ldd` prints. The library of the kernel has none.
fn paths(listing: &str) -> Vec<PathBuf> {
    let words = listing
        .lines()
        .filter_map(|line| line.split_once("=>").map_or(line, |(_, path)| path).split_whitespace().next());
    words.filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

fn is_of_every_system(library: &Path) -> bool {
    library.file_name().is_some_and(|name| OF_EVERY_SYSTEM.iter().any(|known| name == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_that_ldd_found() {
        let listing = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                       \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)\n\
                       \tlibnone.so => not found\n\
                       \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let expected = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"];
        assert_eq!(paths(listing), expected.map(PathBuf::from));
    }

    #[test]
    fn libraries_of_packages_are_strange() {
        assert!(is_of_every_system(Path::new("/lib/x86_64-linux-gnu/libc.so.6")));
        assert!(!is_of_every_system(Path::new("/lib/x86_64-linux-gnu/libssl.so.3")));
        assert!(!is_of_every_system(Path::new("/lib/x86_64-linux-gnu/libgcc_s.so.1")));
    }
}
