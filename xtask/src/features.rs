//! Compiles each published crate with no feature and with each of its features alone: the workspace is otherwise only
//! compiled with all of them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{process, workspace};

/// Checks every crate in every such set-up.
pub(crate) fn check(root: &Path) -> Result<()> {
    for package in packages(root)? {
        let manifest = fs::read_to_string(root.join(&package).join("Cargo.toml"))?;
        let features = names(&manifest);
        for feature in std::iter::once(None).chain(features.iter().map(Some)) {
            let mut cargo = workspace::cargo();
            cargo.args(["check", "--quiet", "--package", &package, "--no-default-features"]);
            if let Some(feature) = feature {
                cargo.args(["--features", feature]);
            }
            process::must(&mut cargo).with_context(|| {
                format!("{package} with {}", feature.map_or("no feature", String::as_str))
            })?;
        }
    }
    Ok(())
}

/// The folders of the published crates.
fn packages(root: &Path) -> Result<Vec<String>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("flowsdk") && root.join(&name).join("Cargo.toml").is_file() {
            packages.push(name);
        }
    }
    packages.sort_unstable();
    Ok(packages)
}

/// The names in the section `[features]` of a manifest, `default` left out.
fn names(manifest: &str) -> Vec<String> {
    let section = manifest.lines().skip_while(|line| line.trim() != "[features]").skip(1);
    let lines = section.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.trim().to_owned());
    names.filter(|name| name != "default").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_off_the_manifest() {
        let manifest = "[package]\nname = \"a\"\n\n[features]\n# One.\ndefault = [\"b\"]\nb = [\n    \"dep:c\",\n]\n\
                        d = []\n\n[dependencies]\ne = \"1\"\n";
        assert_eq!(names(manifest), ["b", "d"]);
        assert_eq!(names("[package]\nname = \"a\"\n"), [""; 0]);
    }
}
