//! The workspace this program belongs to, and the cargo that runs it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&here).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Returns cargo's target folder.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// The same cargo that started this program, in the workspace's root, with the environment as it was before.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    forget_cargo_run(&mut command);
    command
}

/// Removes the variables of `cargo run` about this crate: build scripts that watch them would run again.
pub(crate) fn forget_cargo_run(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(describes_this_crate) {
            command.env_remove(name);
        }
    }
}

fn describes_this_crate(variable: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"].iter().any(|p| variable.starts_with(p))
        || variable == "CARGO_PRIMARY_PACKAGE"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        assert!(root().join("Cargo.toml").is_file());
        assert!(root().join("xtask").is_dir());
    }

    #[test]
    fn settings_of_the_developer_are_kept() {
        assert!(describes_this_crate("CARGO_PKG_VERSION"));
        assert!(!describes_this_crate("CARGO_TARGET_DIR"));
        assert!(!describes_this_crate("CARGO_TERM_COLOR"));
    }
}
