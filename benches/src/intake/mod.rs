//! The race of the intake: signed deliveries of the phone provider, each with a message of its own, until they are in
//! Redis; and the same at a pace, while their messages are answered.

mod contender;
mod load;
mod report;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::Common;
use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::requests::Run;
use crate::services::Addresses;
use crate::turns::Extent;
use contender::{Contender, Ground};

/// The number of connections that deliver.
const CONNECTIONS: usize = 64;
/// The deliveries a second while messages are answered.
const PACE: f64 = 1_000.0;
/// The secret that signs the deliveries.
const SECRET: &str = "the-app-secret-of-the-race";
/// The provider's ids of the number and of its account.
const NUMBER: &str = "111";
const ACCOUNT: &str = "9111";

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    services: Addresses,
    #[command(flatten)]
    extent: Extent<Contender>,
}

/// Runs the contenders round by round and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server();
    machine::pin(cores.load)?;
    let field = contender::field(&options.extent.wanted, &options.services, &server);
    let ground = Ground { cores, server: server.unwrap_or_default(), services: options.services.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    field.in_turns(options.extent.rounds, |contender, round| {
        let turn = || -> Result<Run<Contender>> {
            let stand = runtime.block_on(ground.start(contender))?;
            let plan = load::Plan {
                address: stand.address(),
                pid: stand.pid(),
                pace: (contender == Contender::FlowSdkTurns).then_some(PACE),
                window: options.extent.window(),
            };
            let outcome = runtime.block_on(load::run(plan))?;
            let run = Run::of(contender, round, &outcome, stand.pid())?;
            let kept = runtime.block_on(stand.finish())?;
            let lost = (kept < outcome.answered)
                .then(|| format!("{} were answered, and {kept} are kept", outcome.answered));
            Ok(run.with_fault(lost))
        };
        let run = turn().with_context(|| contender.name())?;
        eprintln!("{}", crate::report::line(&run));
        runs.push(run);
        Ok(())
    })?;
    report::finish(options, &runs)
}
