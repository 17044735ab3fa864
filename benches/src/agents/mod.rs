//! The race of AI agents: turns of many sessions at once, with a model that takes its time and a tool, every step stored.

mod mind;
mod report;
mod stand;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::machine::{self, Cores};
use crate::services::Addresses;
use crate::turns::Field;
use report::Run;
use stand::Stand;

/// Answers of a turn: a call of a tool, a message, and nothing more.
const ANSWERS: u32 = 3;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: crate::Common,
    #[command(flatten)]
    services: Addresses,
    /// Where the rows are
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Store::ALL)]
    store: Vec<Store>,
    /// How often everything is repeated
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Sessions at once
    #[arg(long, value_delimiter = ',', default_values_t = [200, 2_000])]
    sessions: Vec<usize>,
    /// Turns of each session
    #[arg(long, default_value_t = 8)]
    turns: usize,
    /// Milliseconds within which the sessions begin, one after the other
    #[arg(long, value_delimiter = ',', default_values_t = [0, 1_500])]
    within_ms: Vec<u64>,
    /// Milliseconds that the model takes for an answer
    #[arg(long, default_value_t = 500)]
    answer_ms: u64,
}

impl Options {
    fn answer_time(&self) -> Duration {
        Duration::from_millis(self.answer_ms)
    }
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

/// Runs the sessions round by round on each store and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let is_work = options.sessions.iter().all(|&sessions| sessions > 0) && options.turns > 0;
    ensure!(is_work, "there is nothing to do");
    let cores = Cores::choose()?;
    machine::pin(cores.server)?;
    let mut stores = Field::of(&options.store);
    if !options.services.has_postgres() {
        stores.leave_out("there is no PostgreSQL", |store| store == Store::Postgres);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut runs = Vec::new();
    stores.in_turns(options.rounds, |store, round| {
        for &sessions in &options.sessions {
            for &within_ms in &options.within_ms {
                let run = runtime.block_on(run(options, store, (sessions, within_ms), round));
                let run = run.with_context(|| format!("{}, {sessions} sessions", store.name()))?;
                eprintln!("{}", crate::report::line(&run));
                runs.push(run);
            }
        }
        Ok(())
    })?;
    report::finish(options, &runs)
}

/// One round on a database of its own.
async fn run(
    options: &Options,
    store: Store,
    (sessions, within_ms): (usize, u64),
    round: u32,
) -> Result<Run> {
    let me = std::process::id();
    let mut stand = Stand::build(&options.services, store, sessions, options.answer_time()).await?;
    let (cpu, memory) = (machine::cpu_time(me)?, machine::anonymous_kib(me)?);
    let within = Duration::from_millis(within_ms);
    let (whole, mean) = stand.talk(options.turns, within).await?;
    // The time in which the sessions begin is not theirs.
    let time = if within.is_zero() { whole } else { mean };
    let cpu = machine::cpu_time(me)?.saturating_sub(cpu);
    let memory = machine::anonymous_kib(me)?.saturating_sub(memory);
    let fault = stand.fault(options.turns).await?;
    stand.finish().await?;
    let turns = sessions * options.turns;
    // The contact has the last message before the model says that this was all.
    let answers = options.turns as u32 * ANSWERS - 1;
    let ideal = options.answer_time() * answers;
    Ok(Run {
        store,
        sessions,
        within_ms,
        round,
        rate: turns as f64 / time.as_secs_f64(),
        of_ideal: ideal.as_secs_f64() / time.as_secs_f64(),
        cpu_ms: cpu.as_secs_f64() * 1e3 / turns as f64,
        memory_kib: memory as f64 / sessions as f64,
        fault,
    })
}
