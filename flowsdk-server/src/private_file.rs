//! Files with secrets in them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Writes a file that its owner alone reads.
pub(crate) fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    out.write_all(bytes)?;
    out.sync_all()
}

/// Puts a file that its owner alone reads in place of another, and makes its folder. A crash leaves either one.
pub(crate) fn replace_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let draft = file.with_added_extension(std::process::id().to_string());
    write_private(&draft, bytes)?;
    fs::rename(&draft, file)
}
