//! Compiles each published crate by itself with no feature, and each feature by itself: the workspace is otherwise only
//! compiled with all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{process, workspace};

/// Checks every crate without features, and every feature in all crates that have it. Each further set-up would compile
/// libraries once more.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut by_feature: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages(root)? {
        let manifest = fs::read_to_string(root.join(&package).join("Cargo.toml"))?;
        compile(&[&package], None)?;
        for feature in names(&manifest) {
            by_feature.entry(feature).or_default().push(package.clone());
        }
    }
    for (feature, packages) in by_feature {
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        compile(&packages, Some(&feature))?;
    }
    Ok(())
}

/// Checks packages with one feature of each, or with none.
fn compile(packages: &[&str], feature: Option<&str>) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["check", "--quiet", "--no-default-features"]);
    for package in packages {
        cargo.args(["--package", package]);
        if let Some(feature) = feature {
            cargo.args(["--features", &format!("{package}/{feature}")]);
        }
    }
    process::must(&mut cargo)
        .with_context(|| format!("{} with {}", packages.join(", "), feature.unwrap_or("no feature")))
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
