//! The race against growth: lists, lookups and turns on a small store and on a large one. There is no peer; the
//! goal is that the time hardly depends on the number of rows.

mod names;
mod reads;
mod report;
mod sink;
mod stand;
mod store;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::Common;
use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::services::Addresses;
use crate::turns::Field;
use report::Run;
use stand::{Seeded, Stand};
use store::COHORT;

/// The name of a visitor's round trip in the table.
const TURN: &str = "turn of a visitor";

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    services: Addresses,
    /// Where the rows are
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Store::ALL)]
    store: Vec<Store>,
    /// Contacts of the small store, whole thousands; each has ten messages
    #[arg(long, default_value_t = 10_000)]
    small: u64,
    /// Contacts of the large store
    #[arg(long, default_value_t = 1_000_000)]
    large: u64,
    /// How often the stores take turns at each read
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// Requests of each read in a turn
    #[arg(long, default_value_t = 20)]
    requests: u32,
    /// Seconds of a visitor's turns on each store
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
}

/// Where the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Store {
    Sqlite,
    Postgres,
}

impl Store {
    const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];
}

impl crate::report::Contender for Store {
    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// What every stand of the race needs.
struct Ground<'a> {
    cores: Cores,
    server: PathBuf,
    services: &'a Addresses,
}

/// Measures both sizes on every store and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    for contacts in [options.small, options.large] {
        let is_whole = contacts >= 2 * COHORT && contacts.is_multiple_of(COHORT);
        ensure!(is_whole, "{contacts} contacts: not a multiple of {COHORT}, or fewer than {}", 2 * COHORT);
    }
    let cores = Cores::choose()?;
    let server = options.common.server()?;
    machine::pin(cores.load)?;
    let ground = Ground { cores, server, services: &options.services };
    let mut field = Field::of(&options.store);
    if !options.services.has_postgres() {
        field.leave_out("there is no PostgreSQL", |store| store == Store::Postgres);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    field.in_turns(1, |store, _| {
        let measured = runtime.block_on(measure(&ground, options, store));
        runs.append(&mut measured.with_context(|| store.name())?);
        Ok(())
    })?;
    report::finish(options, &runs)
}

/// Every read and the turns on a small and a large `store`.
async fn measure(ground: &Ground<'_>, options: &Options, store: Store) -> Result<Vec<Run>> {
    let small = Seeded::write(ground, store, options.small).await?;
    let large = Seeded::write(ground, store, options.large).await?;
    let mut stands = [Stand::start(ground, small).await?, Stand::start(ground, large).await?];
    let mut runs = Vec::new();
    for (number, name) in stands[0].names().into_iter().enumerate() {
        for stand in &mut stands {
            stand.warm_up(number).await?;
        }
        let mut millis = [Vec::new(), Vec::new()];
        for round in 0..options.rounds {
            for size in order(round) {
                for _ in 0..options.requests {
                    millis[size].push(stands[size].time(number).await?);
                }
            }
        }
        note(&mut runs, Run::of(store, name, millis, None)?);
    }
    let run = turns(options, store, &stands).await?;
    note(&mut runs, run);
    for stand in stands {
        stand.finish().await?;
    }
    Ok(runs)
}

/// The order of the sizes in a round: small, large, large, small.
fn order(round: u32) -> [usize; 2] {
    if round.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

/// Medians of a visitor's turns, in each round a new visitor on each stand.
async fn turns(options: &Options, store: Store, stands: &[Stand; 2]) -> Result<Run> {
    let window = Duration::from_secs_f64(options.seconds / f64::from(options.rounds.max(1)));
    let (mut millis, mut fault) = ([Vec::new(), Vec::new()], None);
    for round in 0..options.rounds {
        for size in order(round) {
            let outcome = stands[size].turns(&format!("round{round}"), window).await?;
            fault = fault.or_else(|| outcome.fault());
            millis[size].push(outcome.latency(0.5));
        }
    }
    Run::of(store, TURN, millis, fault)
}

fn note(runs: &mut Vec<Run>, run: Run) {
    eprintln!("{}", crate::report::line(&run));
    runs.push(run);
}
