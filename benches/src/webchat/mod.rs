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

use anyhow::{Context as _, Result};
use clap::Args;

pub(crate) use raw_socket::RawSocket;
pub(crate) use raw_storage::RawStorage;

use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::trips;
use crate::turns::{Extent, Field};
use crate::{Common, peers};
use contender::Contender;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) extent: Extent<Contender>,
    #[command(flatten)]
    pub(crate) crowd: trips::Crowd,
}

type Run = trips::Run<Contender>;

/// Runs the contenders round by round and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server();
    machine::pin(cores.load)?;
    let field = field(options, &server);
    let ground = Ground { options, cores, server: server.unwrap_or_default() };
    let mut runs = Vec::new();
    field.in_turns(options.extent.rounds, |contender, round| {
        ground.turn(contender, round, &mut runs).with_context(|| contender.name())
    })?;
    report::finish(options, &runs)
}

/// Those who can run, and a word on those who cannot.
fn field(options: &Options, server: &Result<std::path::PathBuf>) -> Field<Contender> {
    let mut field = options.extent.wanted.field(&Contender::ALL);
    if let Err(why) = server {
        field.leave_out(why, Contender::is_ours);
    }
    if let Err(why) = peers::install() {
        field.leave_out(why, Contender::is_node);
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
        let mut turn = trips::take_turn(
            &self.options.crowd,
            self.options.extent.window(),
            &runtime,
            &stand,
            contender,
            round,
        )?;
        if let Some(rows) = stand.finish()? {
            turn.check(rows);
        }
        runs.append(&mut turn.runs);
        Ok(())
    }

    fn raw_storage(&self, folder: &Path, round: u32) -> Result<Run> {
        let rate = raw_storage::measure(folder, self.cores, self.options.extent.window())?;
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
