//! The flow race: turns of a flow of three blocks over a channel, the state stored at every turn.

mod channel;
mod chat;
mod contender;
mod report;

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;

use crate::machine::{self, Cores};
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
    /// Conversations, one message under way in each
    #[arg(long, default_value_t = 50)]
    pub(crate) conversations: usize,
}

/// One measurement of a contender in a round.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) contender: Contender,
    pub(crate) round: u32,
    pub(crate) rate: f64,
    pub(crate) cpu_micros: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
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
    let server = server.unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    field.in_turns(options.extent.rounds, |contender, round| {
        let folder = tempfile::tempdir()?;
        let turn = async {
            let stand = contender.start(&server, folder.path(), cores).await?;
            let outcome = stand.talk(options.conversations, options.extent.window()).await?;
            let resident_kib = machine::resident_kib(stand.pid())?;
            let stored = stand.finish()?;
            let miscounted = (stored != outcome.written)
                .then(|| format!("{} messages, but {stored} turns are stored", outcome.written));
            Ok::<_, anyhow::Error>(Run {
                contender,
                round,
                rate: outcome.rate(),
                cpu_micros: outcome.cpu_per_message(),
                p50_ms: outcome.latency(0.5),
                p99_ms: outcome.latency(0.99),
                resident_kib,
                fault: outcome.fault().or(miscounted),
            })
        };
        let run = runtime.block_on(turn).with_context(|| contender.name())?;
        eprintln!("{}", crate::report::line(&run));
        runs.push(run);
        Ok(())
    })?;
    report::finish(options, &runs)
}

/// Those who can run, and a word on those who cannot.
fn field(options: &Options, server: &Result<std::path::PathBuf>) -> Field<Contender> {
    let mut field = options.extent.wanted.field(&Contender::ALL);
    if let Err(why) = server {
        field.leave_out(why, |one| !one.is_peer());
    }
    if field.has(Contender::is_peer)
        && let Err(why) = peers::install()
    {
        field.leave_out(why, Contender::is_peer);
    }
    field
}
