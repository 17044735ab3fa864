//! The flow race: turns of a flow of three blocks over a channel, the state stored at every turn.

mod channel;
mod chat;
mod contender;
mod report;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::requests::Run;
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
            let run = Run::of(contender, round, &outcome, stand.pid())?;
            let stored = stand.finish()?;
            let miscounted = (stored != outcome.written)
                .then(|| format!("{} messages, but {stored} turns are stored", outcome.written));
            Ok::<_, anyhow::Error>(run.with_fault(miscounted))
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
