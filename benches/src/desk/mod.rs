//! The race of the helpdesk: agents who pick tickets up at once, and handoffs until an agent has each, against the SQL
//! that this takes at least.

mod floor;
mod ours;
mod raw;
mod raw_sqlite;
mod report;
mod stand;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use flowsdk_core::event::HelpdeskEvent;
use serde::Serialize;

use crate::Common;
use crate::machine::{self, Cores};
use crate::report::{Contender as _, Spread};
use crate::services::Addresses;
use crate::turns::{Field, Wanted};
use floor::AGENTS;
use report::Run;
use stand::Stand;

/// Events that the helpdesk takes at once, as the consumer of the server does.
const BATCH: usize = 128;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    services: Addresses,
    #[command(flatten)]
    wanted: Wanted<Contender>,
    /// Where the rows are
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Store::ALL)]
    store: Vec<Store>,
    /// What is raced
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Work::ALL)]
    work: Vec<Work>,
    /// How often everything is repeated, in turns A B B A
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Tickets that wait to be picked up
    #[arg(long, default_value_t = 100_000)]
    tickets: usize,
    /// Conversations that are handed over
    #[arg(long, default_value_t = 20_000)]
    handoffs: usize,
    /// Most open tickets of an agent
    #[arg(long, default_value_t = 20)]
    limit: u32,
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

    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// What is raced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Work {
    /// Agents pick up what waits.
    Pickup,
    /// Conversations are handed over, and their tickets are given to agents.
    Handoff,
}

impl Work {
    const ALL: [Self; 2] = [Self::Pickup, Self::Handoff];

    fn name(self) -> &'static str {
        match self {
            Self::Pickup => "pickup",
            Self::Handoff => "handoff",
        }
    }
}

/// Who races.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contender {
    /// The use cases of the helpdesk
    FlowSdk,
    /// The statements alone, one commit a pickup
    Raw,
    /// On SQLite: the pickups that wait share a commit
    RawGroups,
}

impl Contender {
    const ALL: [Self; 3] = [Self::FlowSdk, Self::Raw, Self::RawGroups];

    /// Returns whether there is such a contender in this race.
    fn takes_part(self, store: Store, work: Work) -> bool {
        self != Self::RawGroups || (store, work) == (Store::Sqlite, Work::Pickup)
    }
}

impl crate::report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::Raw => "raw: statements",
            Self::RawGroups => "the same, the pickups that wait in one commit",
        }
    }
}

/// A ticket that an agent was given.
#[derive(Debug, Clone)]
struct Picked {
    user: String,
    ticket: String,
    /// How long the agent waited for it.
    millis: f64,
}

/// What was done in one turn, and how long it took.
#[derive(Debug, Default)]
struct Tally {
    /// Tickets that agents got.
    done: usize,
    time: Duration,
    cpu: Duration,
    /// Of each pickup, or of each batch of handoffs.
    millis: Vec<f64>,
}

impl Tally {
    /// Lets the clock run for `work`.
    async fn time<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let me = std::process::id();
        let (began, cpu) = (Instant::now(), machine::cpu_time(me)?);
        let done = work.await?;
        self.time += began.elapsed();
        self.cpu += machine::cpu_time(me)?.saturating_sub(cpu);
        Ok(done)
    }
}

/// Runs the contenders round by round on each store and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    ensure!(options.limit > 0 && options.tickets > 0 && options.handoffs > 0, "there is nothing to do");
    let cores = Cores::choose()?;
    machine::pin(cores.server)?;
    let mut stores = Field::of(&options.store);
    if !options.services.has_postgres() {
        stores.leave_out("there is no PostgreSQL", |store| store == Store::Postgres);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    stores.in_turns(1, |store, _| {
        for &work in &options.work {
            let all = Contender::ALL.into_iter().filter(|contender| contender.takes_part(store, work));
            let field = options.wanted.field(&all.collect::<Vec<_>>());
            field.in_turns(options.rounds, |contender, round| {
                let run = runtime.block_on(run(options, store, work, contender, round));
                let who = || format!("{}, {}, {}", contender.name(), store.name(), work.name());
                let run = run.with_context(who)?;
                eprintln!("{}", crate::report::line(&run));
                runs.push(run);
                Ok(())
            })?;
        }
        Ok(())
    })?;
    report::finish(options, &runs)
}

/// One turn on a database of its own.
async fn run(options: &Options, store: Store, work: Work, contender: Contender, round: u32) -> Result<Run> {
    let count = match work {
        Work::Pickup => options.tickets,
        Work::Handoff => options.handoffs,
    };
    let mut stand = Stand::build(&options.services, store, work, count, options.limit).await?;
    stand.enter(contender).await?;
    let (tally, fault) = match work {
        Work::Pickup => pick_up(&mut stand, options.limit as usize).await?,
        Work::Handoff => hand_over(&mut stand, options.limit as usize).await?,
    };
    stand.finish().await?;
    let mut millis = tally.millis;
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| millis.get((millis.len() as f64 * share) as usize).copied().unwrap_or_default();
    Ok(Run {
        store,
        work,
        contender,
        round,
        rate: tally.done as f64 / tally.time.as_secs_f64(),
        cpu_micros: tally.cpu.as_secs_f64() * 1e6 / tally.done.max(1) as f64,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        fault,
    })
}

/// Agents pick up until nothing waits. Whenever they have as many tickets as they may, these are closed while the clock
/// stands still.
async fn pick_up(stand: &mut Stand, limit: usize) -> Result<(Tally, Option<String>)> {
    let (mut tally, mut picked) = (Tally::default(), Vec::new());
    loop {
        let lap = tally.time(stand.pick_up(limit)).await?;
        if lap.is_empty() {
            break;
        }
        picked.extend(lap);
        stand.close_tickets().await?;
    }
    tally.done = picked.len();
    tally.millis = picked.iter().map(|one| one.millis).collect();
    let fault = stand.fault(Some(&picked)).await?;
    Ok((tally, fault))
}

/// Conversations are handed over in batches. Whenever the agents have as many tickets as they may, these are closed while
/// the clock stands still.
async fn hand_over(stand: &mut Stand, limit: usize) -> Result<(Tally, Option<String>)> {
    let mut tally = Tally::default();
    let events = stand.handoffs();
    for lap in events.chunks(limit * AGENTS) {
        for batch in lap.chunks(BATCH) {
            let began = Instant::now();
            let batch: Vec<&HelpdeskEvent> = batch.iter().collect();
            tally.time(stand.hand_over(&batch)).await?;
            tally.millis.push(began.elapsed().as_secs_f64() * 1e3);
        }
        stand.close_tickets().await?;
    }
    tally.done = events.len();
    let fault = stand.fault(None).await?;
    Ok((tally, fault))
}

/// Returns how many times as long as `raw` a contender takes.
fn times(ours: Option<Spread>, raw: Option<Spread>) -> Option<f64> {
    Some(raw?.median / ours?.median)
}
