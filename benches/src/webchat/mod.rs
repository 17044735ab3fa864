//! The webchat race: stored round trips.
//!
//! One message in, its row, the session, one step of a flow of three blocks, the row of the answer, the
//! answer out, its status.

pub(crate) mod contender;
mod raw_socket;
mod raw_storage;
mod report;
pub(crate) mod seed;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;

pub(crate) use raw_socket::RawSocket;
pub(crate) use raw_storage::RawStorage;

use crate::load::{self, Outcome, Plan};
use crate::machine::{self, Cores};
use crate::{Common, peers, turns};
use contender::Contender;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How often everything is repeated, in turns A B B A
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 6.0)]
    pub(crate) seconds: f64,
    /// Connections of the closed loops; the first of these is the one whose half rate is paced
    #[arg(long, value_delimiter = ',', default_value = "100,1000")]
    pub(crate) connections: Vec<usize>,
    /// Visitors acknowledge the messages that they receive
    #[arg(long)]
    pub(crate) acknowledge: bool,
    /// Only these
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) only: Vec<Contender>,
}

/// One measurement of a contender in a round.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) contender: Contender,
    pub(crate) round: u32,
    pub(crate) connections: usize,
    /// Messages a second that were asked for; `None` in a closed loop.
    pub(crate) paced: Option<f64>,
    pub(crate) rate: f64,
    pub(crate) cpu_micros: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) resident_kib: u64,
    /// Why it does not count.
    pub(crate) fault: Option<String>,
}

/// Runs the contenders round by round and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server();
    machine::pin(cores.load)?;
    let field = field(options, &server);
    let ground = Ground { options, cores, server: server.unwrap_or_default() };
    let mut runs = Vec::new();
    turns::in_turns(&field, options.rounds, |contender, round| {
        ground.turn(contender, round, &mut runs).with_context(|| contender.name())
    })?;
    report::finish(options, &runs)
}

/// Those who can run, and a word on those who cannot.
fn field(options: &Options, server: &Result<std::path::PathBuf>) -> Vec<Contender> {
    let wanted = |one: &Contender| options.only.is_empty() || options.only.contains(one);
    let mut field: Vec<Contender> = Contender::ALL.into_iter().filter(wanted).collect();
    let mut leave_out = |why: &anyhow::Error, whom: fn(&Contender) -> bool| {
        if field.iter().any(whom) {
            eprintln!("flowsdk-benches: left out: {why:#}");
            field.retain(|one| !whom(one));
        }
    };
    if let Err(why) = server {
        leave_out(why, |one| one.is_ours());
    }
    if let Err(why) = peers::install() {
        leave_out(&why, |one| one.is_node());
    }
    field
}

struct Ground<'a> {
    options: &'a Options,
    cores: Cores,
    server: std::path::PathBuf,
}

impl Ground<'_> {
    /// One contender's turn in one round: a fresh database, every measurement, and the count of its rows.
    fn turn(&self, contender: Contender, round: u32, runs: &mut Vec<Run>) -> Result<()> {
        let folder = tempfile::tempdir()?;
        if contender == Contender::RawStorage {
            runs.push(self.raw_storage(folder.path(), round)?);
            return Ok(());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stand = runtime.block_on(contender.start(&self.server, folder.path(), self.cores))?;
        let first = runs.len();
        let mut written = 0;
        let mut pace = None;
        for (phase, &connections) in self.options.connections.iter().enumerate() {
            let outcome = self.measure(&runtime, &stand, phase, connections, None)?;
            written += outcome.written;
            pace.get_or_insert((connections, outcome.rate() / 2.0));
            runs.push(self.note(contender, round, connections, None, &stand, &outcome)?);
        }
        // The echo of the raw cost handles its events at the same time, so it does not promise order.
        if let Some((connections, rate)) = pace.filter(|_| contender != Contender::RawSocket) {
            let outcome =
                self.measure(&runtime, &stand, self.options.connections.len(), connections, Some(rate))?;
            written += outcome.written;
            runs.push(self.note(contender, round, connections, Some(rate), &stand, &outcome)?);
        }
        let rows = stand.finish()?;
        if let Some(rows) = rows.filter(|rows| rows.inbound != written || rows.outbound != written) {
            let fault =
                format!("{written} messages, but {} rows in and {} rows out", rows.inbound, rows.outbound);
            for run in &mut runs[first..] {
                run.fault.get_or_insert(fault.clone());
            }
        }
        Ok(())
    }

    fn measure(
        &self,
        runtime: &tokio::runtime::Runtime,
        stand: &contender::Stand,
        phase: usize,
        connections: usize,
        pace: Option<f64>,
    ) -> Result<Outcome> {
        // Visitors of their own, so that every phase begins new sessions.
        let auths = (0..connections).map(|number| stand.auth(&format!("p{phase}n{number}")));
        runtime.block_on(load::run(Plan {
            entrance: stand.entrance(),
            auths: auths.collect::<Result<_>>()?,
            pace,
            window: Duration::from_secs_f64(self.options.seconds),
            answer: stand.answer(),
            pid: stand.pid(),
            acknowledge: self.options.acknowledge,
        }))
    }

    fn note(
        &self,
        contender: Contender,
        round: u32,
        connections: usize,
        paced: Option<f64>,
        stand: &contender::Stand,
        outcome: &Outcome,
    ) -> Result<Run> {
        let run = Run {
            contender,
            round,
            connections,
            paced,
            rate: outcome.rate(),
            cpu_micros: outcome.cpu_per_message(),
            p50_ms: outcome.latency(0.5),
            p99_ms: outcome.latency(0.99),
            p999_ms: outcome.latency(0.999),
            resident_kib: machine::resident_kib(stand.pid())?,
            fault: outcome.fault(),
        };
        eprintln!("{}", crate::report::line(&run));
        Ok(run)
    }

    fn raw_storage(&self, folder: &Path, round: u32) -> Result<Run> {
        let rate = raw_storage::measure(folder, self.cores, Duration::from_secs_f64(self.options.seconds))?;
        let run = Run {
            contender: Contender::RawStorage,
            round,
            connections: 0,
            paced: None,
            rate: rate.rate,
            cpu_micros: rate.cpu_micros,
            p50_ms: 0.0,
            p99_ms: 0.0,
            p999_ms: 0.0,
            resident_kib: 0,
            fault: None,
        };
        eprintln!("{}", crate::report::line(&run));
        Ok(run)
    }
}
