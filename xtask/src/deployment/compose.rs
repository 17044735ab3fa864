//! `compose.yaml`: read as Docker Compose reads it, and by Docker Compose itself where it can be had.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{CONFIGURATION, documents, is_variable, read, variables};
use crate::workspace;

const COMPOSE: &str = "compose.yaml";

#[derive(Deserialize)]
struct Compose {
    services: BTreeMap<String, Service>,
    #[serde(default)]
    volumes: BTreeMap<String, Option<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Service {
    build: Option<IgnoredAny>,
    image: Option<String>,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    depends_on: BTreeMap<String, Dependency>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    volumes: Vec<String>,
    healthcheck: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Dependency {
    condition: String,
}

/// Returns what is wrong with a file, by the variables that the server knows.
fn faults(text: &str, known: &BTreeSet<&str>) -> Vec<String> {
    let compose: Compose = match serde_saphyr::from_str(text) {
        Ok(compose) => compose,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults: Vec<String> = references(text).filter_map(fault_of).collect();
    for (name, service) in &compose.services {
        let own = faults_of(service, &compose).into_iter().map(|fault| format!("{name}: {fault}"));
        faults.extend(own);
    }
    match compose.services.get("server") {
        None => faults.push("there is no service `server`".to_owned()),
        Some(server) => {
            let unknown = server.environment.keys().filter(|name| !known.contains(name.as_str()));
            faults.extend(unknown.map(|name| format!("the server knows no {name}")));
        }
    }
    faults
}

fn faults_of(service: &Service, compose: &Compose) -> Vec<String> {
    let mut faults = Vec::new();
    if service.build.is_some() == service.image.is_some() {
        faults.push("needs either `build` or `image`".to_owned());
    }
    for (name, dependency) in &service.depends_on {
        match compose.services.get(name) {
            None => faults.push(format!("depends on {name}, which is no service")),
            Some(other) if dependency.condition == "service_healthy" && other.healthcheck.is_none() => {
                faults.push(format!("waits for the health of {name}, which has no check"));
            }
            Some(_) => {}
        }
    }
    let sources = service.volumes.iter().filter_map(|volume| volume.split(':').next());
    let named = sources.filter(|source| !source.starts_with(['.', '/', '~']));
    let lost = named.filter(|source| !compose.volumes.contains_key(*source));
    faults.extend(lost.map(|source| format!("volume {source} is not declared")));
    faults
}

/// What stands behind each `$` of a file, to the end of its line; `$$` is a dollar sign.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            loop {
                let (_, behind) = rest.split_once('$')?;
                match behind.strip_prefix('$') {
                    Some(literal) => rest = literal,
                    None => {
                        rest = behind;
                        return Some(behind);
                    }
                }
            }
        })
    })
}

/// Returns what is wrong with `{NAME}`, `{NAME:-default}` or `{NAME:?message}`.
fn fault_of(reference: &str) -> Option<String> {
    let Some((inner, _)) = reference.strip_prefix('{').and_then(|open| open.split_once('}')) else {
        return Some(format!("${reference} has no pair of braces"));
    };
    let (name, form) = inner.split_at(inner.find(|c: char| !is_of_name(c)).unwrap_or(inner.len()));
    let well_formed = match form.strip_prefix(":?") {
        Some(message) => !message.is_empty(),
        None => form.is_empty() || form.starts_with(":-"),
    };
    (!well_formed || !is_variable(name)).then(|| format!("${{{inner}}} is no reference"))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[test]
fn the_file_fits_the_server() {
    let (text, page) = (read(COMPOSE), read(CONFIGURATION));
    assert_eq!(faults(&text, &variables(&page)), Vec::<String>::new());
    let compose: Compose = serde_saphyr::from_str(&text).expect("a file");
    let command = compose.services["server"].command.join(" ");
    assert!(documents(&page, &command), "{command} is not documented");
}

#[test]
fn every_fault_is_named() {
    let text = "services:\n  server:\n    image: a\n    build: .\n    environment: { LISTEN: \"${PORT:?}\" }\n    \
                depends_on: { cache: { condition: service_started }, db: { condition: service_healthy } }\n  \
                db:\n    image: b\n    volumes: [\"data:/data\", \"./here:/there\"]\n";
    let expected = [
        "${PORT:?} is no reference",
        "db: volume data is not declared",
        "server: needs either `build` or `image`",
        "server: depends on cache, which is no service",
        "server: waits for the health of db, which has no check",
        "the server knows no LISTEN",
    ];
    assert_eq!(faults(text, &BTreeSet::from(["LISTEN_ADDR"])), expected);
    assert_eq!(faults("services: {}", &BTreeSet::new()), ["there is no service `server`"]);
    assert_eq!(faults("services: [", &BTreeSet::new()).len(), 1);
}

#[test]
fn references_have_one_of_three_forms() {
    let wrong = |text| references(text).filter_map(fault_of).count();
    assert_eq!(wrong("a: ${A}${B_2:-}${C:-x}${D:?say D} $$5 $${\n# $comment"), 0);
    for text in ["$A", "${A", "${}", "${A?x}", "${A:}", "${A:?}", "${a b}", "${A}${"] {
        assert_eq!(wrong(text), 1, "{text}");
    }
}

#[test]
fn docker_compose_takes_the_file_where_it_can_be_had() {
    let docker = || {
        let mut command = Command::new("docker");
        command.arg("compose").current_dir(workspace::root()).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    if !docker().arg("version").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no Docker Compose");
        return;
    }
    let mut config = docker();
    config.args(["--file", COMPOSE, "--env-file", "/dev/null", "config", "--quiet"]);
    for name in ["POSTGRES_PASSWORD", "CRYPTO_SECRET", "JWT_ACCESS_SECRET", "JWT_REFRESH_SECRET"] {
        config.env(name, "0123456789abcdef0123456789abcdef");
    }
    assert!(config.status().expect("docker starts").success());
}
