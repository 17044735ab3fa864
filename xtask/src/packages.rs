//! The needs of the tests besides Rust: which of them this machine has, and the packages to install.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::apt;
use crate::python;
use crate::version::Version;

/// One thing the tests need besides Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Need {
    /// PostgreSQL's server programs
    Postgres,
    /// redis-server, 7 or newer
    Redis,
    /// Chromium or Chrome
    Browser,
    /// Node, 18 or newer, and npm
    Node,
    /// Python, 3.10 or newer, that makes virtual environments
    Python,
    /// Python, 3.9 to 3.12, for its package of a PostgreSQL with pgvector
    Vectors,
}

impl Need {
    /// In the order of asking for them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Postgres, Self::Redis, Self::Browser, Self::Node, Self::Python, Self::Vectors];
    /// The needs of `cargo xtask services`.
    pub(crate) const SERVICES: [Self; 3] = [Self::Postgres, Self::Redis, Self::Vectors];
    /// The needs of races and of the soak.
    pub(crate) const STORES: [Self; 2] = [Self::Postgres, Self::Redis];

    /// The tests that are lost without it.
    fn skipped(self) -> &'static str {
        match self {
            Self::Postgres => "every test on PostgreSQL",
            Self::Redis => "every test on Redis",
            Self::Browser => "the tests of the pages in a browser",
            Self::Node => "the tests with the JavaScript clients, and the check of the web bundle",
            Self::Python => "the fuzzing of the HTTP API",
            Self::Vectors => "every test on PostgreSQL with pgvector",
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// A program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
}

/// The requested programs that this machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The server program; `initdb` stands beside it.
    pub(crate) postgres: Option<Program>,
    pub(crate) redis: Option<Program>,
    pub(crate) browser: Option<Program>,
    pub(crate) node: Option<Program>,
    pub(crate) npm: Option<Program>,
    pub(crate) python: Option<Program>,
    /// The Python that installs a PostgreSQL with pgvector.
    pub(crate) vectors: Option<Program>,
}

/// A need that is not met.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    need: Need,
    /// The Debian package that meets it.
    package: &'static str,
    reason: String,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}: {} (Debian package {})", self.need.name(), self.reason, self.package)
    }
}

/// Finds all that `needs` asks for, installing missing packages where that is possible.
pub(crate) fn ensure(needs: &[Need], without: &[Need]) -> Result<Found> {
    let needs: Vec<Need> = needs.iter().copied().filter(|need| !without.contains(need)).collect();
    let mut found = Found::detect(&needs);
    if apt::is_usable() {
        found = install_missing(found, &needs)?;
    }
    let gaps = found.gaps(&needs);
    if !gaps.is_empty() {
        bail!(explain(&gaps, without));
    }
    report(&found, without);
    Ok(found)
}

/// Installs in rounds, as long as a round asks for something else than the one before.
fn install_missing(mut found: Found, needs: &[Need]) -> Result<Found> {
    let mut packages = next_round(&found.gaps(needs));
    if !packages.is_empty() {
        apt::update()?;
    }
    while !packages.is_empty() {
        apt::install(&packages)?;
        found = Found::detect(needs);
        let next = next_round(&found.gaps(needs));
        if next == packages {
            break;
        }
        packages = next;
    }
    Ok(found)
}

impl Found {
    fn detect(needs: &[Need]) -> Self {
        let asked = |need| needs.contains(&need);
        Self {
            postgres: asked(Need::Postgres).then(newest_postgres).flatten(),
            redis: asked(Need::Redis).then(|| first_working(&["redis-server"])).flatten(),
            browser: asked(Need::Browser)
                .then(|| {
                    first_working(&["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"])
                })
                .flatten(),
            node: asked(Need::Node).then(|| first_working(&["node", "nodejs"])).flatten(),
            npm: asked(Need::Node).then(|| first_working(&["npm"])).flatten(),
            python: asked(Need::Python).then(python_with_environments).flatten(),
            vectors: asked(Need::Vectors).then(python_with_environments).flatten(),
        }
    }

    fn gaps(&self, needs: &[Need]) -> Vec<Gap> {
        let requirements = [
            (Need::Postgres, "PostgreSQL server", "postgresql", &self.postgres, 0),
            (Need::Redis, "redis-server", "redis-server", &self.redis, 7),
            (Need::Browser, "chromium", "chromium", &self.browser, 0),
            (Need::Node, "node", "nodejs", &self.node, 18),
            (Need::Node, "npm", "npm", &self.npm, 0),
            (Need::Python, "python3 with ensurepip", "python3-venv", &self.python, 3),
            (Need::Vectors, "python3 with ensurepip", "python3-venv", &self.vectors, 3),
        ];
        let mut gaps = Vec::new();
        for (need, name, package, program, minimum) in requirements {
            if !needs.contains(&need) {
                continue;
            }
            let reason = match program {
                None if minimum > 0 => format!("{name} {minimum} or newer is missing"),
                None => format!("{name} is missing"),
                Some(program) if program.version.major < minimum => {
                    format!("{name} is version {}, {minimum} or newer is needed", program.version)
                }
                Some(_) => continue,
            };
            gaps.push(Gap { need, package, reason });
        }
        gaps
    }
}

fn packages_for(gaps: &[Gap]) -> Vec<&'static str> {
    gaps.iter().map(|gap| gap.package).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Some distributions of Node bring npm with them and conflict with a package of that name: Node goes first.
fn next_round(gaps: &[Gap]) -> Vec<&'static str> {
    let mut packages = packages_for(gaps);
    if packages.contains(&"nodejs") {
        packages.retain(|package| *package != "npm");
    }
    packages
}

fn explain(gaps: &[Gap], without: &[Need]) -> String {
    let unmet: BTreeSet<Need> = gaps.iter().map(|gap| gap.need).collect();
    let lines = |text: Vec<String>| text.join("\n");
    let names = |needs: &BTreeSet<Need>| needs.iter().map(|need| need.name()).collect::<Vec<_>>().join(",");
    let all: BTreeSet<Need> = unmet.iter().chain(without).copied().collect();
    format!(
        "the tests need more than this machine has:\n{}\n\n\
         Install it, on Debian and its kin with\n  \
         apt-get install --no-install-recommends {}\n\
         or do without it with\n  \
         --without {}\n\
         which skips\n{}",
        lines(gaps.iter().map(Gap::to_string).collect()),
        packages_for(gaps).join(" "),
        names(&all),
        lines(unmet.iter().map(|need| format!("  {}: {}", need.name(), need.skipped())).collect()),
    )
}

fn report(found: &Found, without: &[Need]) {
    let programs = [
        ("PostgreSQL", &found.postgres),
        ("Redis", &found.redis),
        ("browser", &found.browser),
        ("Node", &found.node),
        ("npm", &found.npm),
        ("Python", &found.python),
    ];
    for (name, program) in programs {
        if let Some(Program { path, version }) = program {
            eprintln!("xtask: found {name} {version} at {}", path.display());
        }
    }
    for need in without {
        eprintln!("xtask: without {}: skips {}", need.name(), need.skipped());
    }
}

/// Debian keeps the server programs of every version outside of PATH.
fn newest_postgres() -> Option<Program> {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    versions
        .map(|version| version.path().join("bin"))
        .chain(search_path())
        .filter(|directory| directory.join("initdb").is_file())
        .filter_map(|directory| working(&directory.join("postgres")))
        // Of equals the first: Debian's own place rather than a link to it.
        .reduce(|best, next| if next.version > best.version { next } else { best })
}

fn python_with_environments() -> Option<Program> {
    first_working(&["python3"]).filter(python::makes_environments)
}

fn first_working(names: &[&str]) -> Option<Program> {
    names
        .iter()
        .flat_map(|name| search_path().into_iter().map(move |directory| directory.join(name)))
        .find_map(|path| working(&path))
}

fn search_path() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// A program that tells its version; a stub that only says how to install the real one does not.
fn working(path: &Path) -> Option<Program> {
    if !path.is_file() {
        return None;
    }
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let version = Version::find(&String::from_utf8_lossy(&output.stdout))?;
    output.status.success().then(|| Program { path: path.to_path_buf(), version })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(major: u32) -> Option<Program> {
        Some(Program { path: "/usr/bin/it".into(), version: Version { major, minor: 0 } })
    }

    fn complete() -> Found {
        Found {
            postgres: program(15),
            redis: program(7),
            browser: program(138),
            node: program(18),
            npm: program(9),
            python: program(3),
            vectors: program(3),
        }
    }

    #[test]
    fn a_complete_machine_has_no_gaps() {
        assert_eq!(complete().gaps(&Need::ALL), []);
    }

    #[test]
    fn an_empty_machine_lacks_every_package() {
        let gaps = Found::default().gaps(&Need::ALL);
        assert_eq!(
            packages_for(&gaps),
            ["chromium", "nodejs", "npm", "postgresql", "python3-venv", "redis-server"]
        );
    }

    #[test]
    fn too_old_is_as_good_as_missing() {
        let found = Found { redis: program(6), node: program(12), ..complete() };
        assert_eq!(packages_for(&found.gaps(&Need::ALL)), ["nodejs", "redis-server"]);
        assert_eq!(found.gaps(&Need::ALL)[0].reason, "redis-server is version 6.0, 7 or newer is needed");
    }

    #[test]
    fn npm_alone_may_be_missing() {
        let found = Found { npm: None, ..complete() };
        assert_eq!(packages_for(&found.gaps(&Need::ALL)), ["npm"]);
    }

    #[test]
    fn node_is_installed_before_npm() {
        assert_eq!(
            next_round(&Found::default().gaps(&Need::ALL)),
            ["chromium", "nodejs", "postgresql", "python3-venv", "redis-server"]
        );
        assert_eq!(next_round(&Found { npm: None, ..complete() }.gaps(&Need::ALL)), ["npm"]);
    }

    #[test]
    fn what_is_not_asked_for_is_not_missed() {
        assert_eq!(packages_for(&Found::default().gaps(&Need::STORES)), ["postgresql", "redis-server"]);
        assert_eq!(Found::default().gaps(&[]), []);
    }

    #[test]
    fn the_explanation_names_packages_losses_and_the_way_out() {
        let found = Found { browser: None, npm: None, ..complete() };
        let text = explain(&found.gaps(&Need::ALL), &[Need::Redis]);
        assert!(text.contains("apt-get install --no-install-recommends chromium npm"), "{text}");
        assert!(text.contains("--without redis,browser,node"), "{text}");
        assert!(text.contains("browser: the tests of the pages in a browser"), "{text}");
    }

    #[test]
    fn a_program_without_a_version_does_not_count() {
        assert_eq!(working(Path::new("/bin/false")), None);
        assert_eq!(working(Path::new("/nonexistent/redis-server")), None);
    }
}
