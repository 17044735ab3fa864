//! The streams race: the round trips of race `webchat` on PostgreSQL and Redis.

mod contender;
mod report;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::services::Addresses;
use crate::trips;
use crate::turns::{Extent, Field};
use crate::{Common, peers};
use contender::Contender;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    services: Addresses,
    #[command(flatten)]
    extent: Extent<Contender>,
    #[command(flatten)]
    crowd: trips::Crowd,
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
    field.in_turns(options.extent.rounds, |contender, round| {
        let turn = || -> Result<Vec<Run>> {
            let stand = runtime.block_on(contender.start(&server, &options.services, cores))?;
            let mut turn = trips::take_turn(
                &options.crowd,
                options.extent.window(),
                &runtime,
                &stand,
                contender,
                round,
            )?;
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
fn field(options: &Options, server: &Result<PathBuf>) -> Field<Contender> {
    let mut field = options.extent.wanted.field(&Contender::ALL);
    if !options.services.has_both() {
        field.leave_out("there are no PostgreSQL and Redis", |_| true);
        return field;
    }
    if let Err(why) = server {
        field.leave_out(why, |one| !one.is_node());
    }
    if let Err(why) = peers::install() {
        field.leave_out(why, Contender::is_node);
    }
    field
}
