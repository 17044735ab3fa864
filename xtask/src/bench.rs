//! `cargo xtask bench`: builds the server and races it.

use std::ffi::OsString;

use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::packages::{self, Need};
use crate::services::Services;
use crate::{interrupt, process, workspace};

/// The options of `flowsdk-benches` that name a server built before.
const SERVER: &str = "--server";
/// The races with contenders on PostgreSQL and Redis.
const WITH_SERVICES: [&str; 8] = ["api", "intake", "login", "streams", "hostile", "growth", "desk", "agents"];
/// The one on PostgreSQL with pgvector.
const VECTORS: &str = "vectors";

pub(crate) fn run(arguments: &[OsString]) -> Result<u8> {
    let prebuilt = arguments
        .iter()
        .any(|argument| argument.to_str().is_some_and(|text| text.split('=').next() == Some(SERVER)));
    let is_of_server = arguments.first().is_none_or(|race| race != VECTORS);
    if is_of_server && !prebuilt {
        process::must(workspace::cargo().args(["build", "--release", "-p", "flowsdk-server"]))?;
    }
    let mut race = workspace::cargo();
    race.args(["run", "--release", "--quiet", "-p", "flowsdk-benches", "--"]).args(arguments);
    let needs = needs(arguments);
    let mut services = if needs.is_empty() { None } else { start_services(needs)? };
    if let Some(services) = &services {
        services.announce(&mut race);
    }
    let code = process::run(&mut race)?;
    if let Some(services) = &mut services {
        services.report_deaths();
    }
    Ok(interrupt::exit_code().unwrap_or(code))
}

fn needs(arguments: &[OsString]) -> &'static [Need] {
    let asks_for_help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    match arguments.first() {
        _ if asks_for_help => &[],
        Some(race) if race == VECTORS => &[Need::Vectors],
        Some(race) if WITH_SERVICES.iter().any(|name| race == name) => &Need::STORES,
        _ => &[],
    }
}

/// The private PostgreSQL and Redis, on the core where the races have their load; `None`, with a word on it,
/// where they cannot be had: the race then leaves out who needs them.
fn start_services(needs: &[Need]) -> Result<Option<Services>> {
    let found = match packages::ensure(needs, &[]) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("xtask: racing without services: {error:#}");
            return Ok(None);
        }
    };
    // Child processes inherit this. A race takes the first core that it may use for the server, the second
    // for everything else.
    let allowed = sched_getaffinity(None)?;
    let second = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).nth(1);
    if let Some(second) = second {
        let mut only = CpuSet::new();
        only.set(second);
        sched_setaffinity(None, &only)?;
    }
    let services = Services::start(&found);
    sched_setaffinity(None, &allowed)?;
    services.map(Some)
}

#[cfg(test)]
mod tests {
    use super::needs;
    use crate::packages::Need;

    #[test]
    fn only_some_races_need_services() {
        let needs = |line: &str| needs(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        let ask = |line: &str| !needs(line).is_empty();
        assert_eq!(needs("vectors --passages 1000"), [Need::Vectors]);
        assert!(
            ask("api --rounds 3")
                && ask("login")
                && ask("streams --rounds 1")
                && ask("growth")
                && ask("desk")
                && ask("agents --sessions 200")
        );
        assert!(!ask("webchat") && !ask("login-timing") && !ask("api --help"));
    }
}
