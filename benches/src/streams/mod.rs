//! The streams race: the round trips of race `webchat` on PostgreSQL and Redis.

mod contender;
mod report;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::machine::{self, Cores};
use crate::services::Addresses;
use crate::trips::{self, Contender as _};
use crate::{Common, peers, turns};
use contender::Contender;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    services: Addresses,
    #[command(flatten)]
    extent: trips::Extent,
    /// Only these
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Contender>,
}

type Run = trips::Run<Contender>;

/// Runs the contenders round by round and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server();
    machine::pin(cores.load)?;
    let field = field(options, &server);
    let server = server.unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs: Vec<Run> = Vec::new();
    turns::in_turns(&field, options.extent.rounds, |contender, round| {
        let turn = || -> Result<Vec<Run>> {
            let stand = runtime.block_on(contender.start(&server, &options.services, cores))?;
            let mut turn = trips::take_turn(&options.extent, &runtime, &stand, contender, round)?;
            let rows = runtime.block_on(stand.finish(turn.written))?;
            turn.check(rows);
            Ok(turn.runs)
        };
        runs.append(&mut turn().with_context(|| contender.name())?);
        Ok(())
    })?;
    report::finish(options, &runs)
}

/// Those who can run, and a word on those who cannot.
fn field(options: &Options, server: &Result<PathBuf>) -> Vec<Contender> {
    let wanted = |one: &Contender| options.only.is_empty() || options.only.contains(one);
    let mut field: Vec<Contender> = Contender::ALL.into_iter().filter(wanted).collect();
    let mut leave_out = |why: &str, whom: fn(&Contender) -> bool| {
        if field.iter().any(whom) {
            eprintln!("flowsdk-benches: left out: {why}");
            field.retain(|one| !whom(one));
        }
    };
    if !options.services.has_both() {
        leave_out("there are no PostgreSQL and Redis", |_| true);
        return field;
    }
    if let Err(why) = server {
        leave_out(&format!("{why:#}"), |one| !one.is_node());
    }
    if let Err(why) = peers::install() {
        leave_out(&format!("{why:#}"), |one| one.is_node());
    }
    field
}
