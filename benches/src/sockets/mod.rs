//! The sockets race: thousands of idle visitors, and how long it takes until all are back.

mod contender;
mod crowd;
mod keys;
mod report;
mod step;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;

use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::turns::{Field, Wanted};
use crate::{Common, peers};
use contender::Contender;

/// Descriptors that a process needs beside those of its sockets.
const OTHER_FILES: u64 = 500;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    /// How often everything is repeated, in turns A B B A
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// Visitors at once
    #[arg(long, default_value_t = 10_000)]
    sockets: usize,
    /// How many of them come for the first time, at the cost of a bcrypt each; the others have a key that was stored
    /// before [default: all]
    #[arg(long)]
    fresh: Option<usize>,
    /// Seconds at rest in which processor time is counted
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    #[command(flatten)]
    wanted: Wanted<Contender>,
}

impl Options {
    fn fresh(&self) -> usize {
        self.fresh.unwrap_or(self.sockets).min(self.sockets)
    }

    fn rest(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// One turn of a contender.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    contender: Contender,
    round: u32,
    sockets: usize,
    /// How many came for the first time, and in how many seconds.
    fresh: usize,
    fresh_seconds: f64,
    /// Resident memory of the server, per socket, with all visitors at rest.
    kib_a_socket: f64,
    /// The same in the process after the `kill -9`, in which nobody was new.
    kib_a_socket_of_known: Option<f64>,
    /// Processor time at rest, in per cent of a core.
    rest_percent: f64,
    /// Seconds until all were back.
    dropped_seconds: f64,
    killed_seconds: Option<f64>,
    stopped_seconds: Option<f64>,
    /// The same restart with the limits that the server has by itself.
    limited_seconds: Option<f64>,
    /// New visits that these limits let in at once, from one address, of those that were tried.
    limited_visits: Option<(usize, usize)>,
    /// Wrong keys that were refused, of those that were tried.
    wrong_keys: (usize, usize),
    /// Why it does not count.
    fault: Option<String>,
}

/// Runs the contenders round by round and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server();
    machine::pin(cores.load)?;
    machine::allow_files(u64::try_from(options.sockets)? + OTHER_FILES)?;
    let field = field(options, &server);
    let server = server.unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    field.in_turns(options.rounds, |contender, round| {
        let turn = turn(options, &server, cores, contender, round);
        let run = tokio::task::LocalSet::new().block_on(&runtime, turn).with_context(|| contender.name())?;
        eprintln!("{}", crate::report::line(&run));
        runs.push(run);
        Ok(())
    })?;
    report::finish(options, &runs)
}

async fn turn(
    options: &Options,
    server: &Path,
    cores: Cores,
    contender: Contender,
    round: u32,
) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    match contender {
        Contender::FlowSdk => step::ours(options, server, folder.path(), cores, round).await,
        Contender::Node => step::peer(options, folder.path(), cores, round).await,
    }
}

/// Those who can run, and a word on those who cannot.
fn field(options: &Options, server: &Result<PathBuf>) -> Field<Contender> {
    let mut field = options.wanted.field(&Contender::ALL);
    if let Err(why) = server {
        field.leave_out(why, |one| one == Contender::FlowSdk);
    }
    if let Err(why) = peers::install() {
        field.leave_out(why, |one| one == Contender::Node);
    }
    field
}
