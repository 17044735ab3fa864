//! Trials with hostile parties: a tenant, or strangers, work against the server while the visitors of another
//! tenant talk. The visitors' latency, the server's memory and the refusals are counted.

mod report;
mod stage;
mod watch;

use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::Common;
use crate::attacks::{Tally, definitions, strangers, tenant};
use crate::load::{self, Outcome, Plan};
use crate::services::Addresses;
use stage::Stage;
use watch::Watch;

/// Visitors of the other tenant.
const VISITORS: usize = 20;
/// Messages a second of all of them.
const PACE: f64 = 20.0;
/// How long the visitors talk undisturbed.
const CALM: Duration = Duration::from_secs(30);

/// The options of a trial.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    services: Addresses,
    /// Who is hostile
    #[arg(value_enum)]
    party: Party,
    /// How long they are
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// The address space of the server, in MiB
    #[arg(long, default_value_t = 4096)]
    memory: u64,
    /// On PostgreSQL and Redis instead of SQLite
    #[arg(long)]
    production: bool,
    /// Only these attacks
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// A hostile party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Party {
    /// An author of flows, and that author's visitors
    Tenant,
    /// Anybody who can reach the port
    Strangers,
}

impl Party {
    fn name(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Strangers => "strangers",
        }
    }
}

/// The results of a trial.
struct Results {
    calm: Outcome,
    attacked: Outcome,
    /// Sessions of the other tenant that froze.
    frozen: u64,
    watched: watch::Watched,
    tally: Tally,
}

/// Runs the trial.
///
/// # Errors
/// A visitor of the other tenant was harmed, or the server ended.
pub(crate) fn trial(options: &Options) -> Result<()> {
    let program = options.common.server()?;
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let results = runtime.block_on(async {
        let mut stage = Stage::set(&program, folder.path(), options).await?;
        let result = act(options, &mut stage).await;
        let said = stage.strike().await;
        result.with_context(|| said)
    })?;
    report::finish(options, &results)
}

async fn act(options: &Options, stage: &mut Stage) -> Result<Results> {
    let calm = talk(stage, "calm", CALM).await?;
    eprintln!("undisturbed: p50 {:.2} p99 {:.2} ms", calm.latency(0.5), calm.latency(0.99));
    let tally = Tally::default();
    let attack = match options.party {
        Party::Tenant => tenant::begin(&stage.target, stage.silent.address, &options.only, &tally).await?,
        Party::Strangers => strangers::begin(&stage.target, &options.only, &tally)?,
    };
    let watch = Watch::start(stage.address, stage.pid(), tally.clone());
    let attacked = talk(stage, "attacked", Duration::from_secs_f64(options.minutes * 60.0)).await?;
    attack.end();
    let frozen = stage.target.frozen(&stage.other).await?;
    Ok(Results { calm, attacked, frozen, watched: watch.finish().await, tally })
}

/// The visitors of the other tenant talk for `window`.
async fn talk(stage: &Stage, phase: &str, window: Duration) -> Result<Outcome> {
    let auths = (0..VISITORS).map(|number| stage.other.channel.auth(&format!("{phase}{number}")));
    load::run(Plan {
        entrances: vec![load::entrance(stage.address, "/webchat/socket.io/")],
        auths: auths.collect::<Result<_>>()?,
        pace: Some(PACE),
        window,
        answer: definitions::answer,
        pids: vec![stage.pid()],
        acknowledge: true,
    })
    .await
    .with_context(|| format!("the visitors, {phase}"))
}
