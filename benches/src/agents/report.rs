//! The result of the race of AI agents.

use anyhow::Result;
use serde::Serialize;

use super::{ANSWERS, Options, Store};
use crate::report::{self, Contender, Measured, Spread, Table, cell};

/// The goals: the part of the ideal rate, and processor time of a turn in milliseconds.
const OF_IDEAL: f64 = 0.97;
const CPU_MS: f64 = 0.4;

/// One round.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) store: Store,
    pub(super) sessions: usize,
    /// Within how many milliseconds they began.
    pub(super) within_ms: u64,
    pub(super) round: u32,
    /// Turns a second.
    pub(super) rate: f64,
    /// How much of the rate that the model's time allows.
    pub(super) of_ideal: f64,
    /// Processor time of the program for each turn; that of PostgreSQL is not in it.
    pub(super) cpu_ms: f64,
    /// What the program grew by for each session.
    pub(super) memory_kib: f64,
    /// Why it does not count.
    pub(super) fault: Option<String>,
}

impl Contender for Store {
    fn name(self) -> &'static str {
        self.name()
    }
}

impl Measured for Run {
    type Contender = Store;

    fn contender(&self) -> Store {
        self.store
    }

    fn figures(&self) -> String {
        let Run { store, sessions, within_ms, round, rate, of_ideal, cpu_ms, memory_kib, .. } = self;
        format!(
            "round {round}, {}, {sessions} sessions within {within_ms} ms: {rate:.0} turns/s, {of_ideal:.3} of the ideal, {cpu_ms:.3} ms CPU a turn, \
             {memory_kib:.1} KiB a session",
            store.name()
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// A turn is missing, doubled or not whole, or two of a session ran at once.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "agents", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let Options { rounds, turns, answer_ms, .. } = options;
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(",");
    let counts = list(&mut options.sessions.iter().map(ToString::to_string));
    let within = list(&mut options.within_ms.iter().map(ToString::to_string));
    let mut text = String::from("## Turns of AI agents\n\n");
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench agents --rounds {rounds} --sessions {counts} --within-ms {within} --turns {turns} --answer-ms {answer_ms}"
    )));
    text.push_str(&format!("{WORK}\n"));
    let mut table = Table::new(&[
        "",
        "sessions",
        "begun within, ms",
        "turns/s",
        "of the ideal",
        "CPU, ms/turn",
        "memory, KiB/session",
    ]);
    let mut goals = String::new();
    for store in Store::ALL {
        let each = options
            .sessions
            .iter()
            .flat_map(|&sessions| options.within_ms.iter().map(move |&within| (sessions, within)));
        for (sessions, within_ms) in each {
            let is_own =
                |run: &&Run| (run.store, run.sessions, run.within_ms) == (store, sessions, within_ms);
            let own = |run: &&Run| is_own(run) && run.fault.is_none();
            let spread = |of: fn(&Run) -> f64| Spread::of(runs.iter().filter(own).map(of));
            let Some(rate) = spread(|run| run.rate) else { continue };
            let (of_ideal, cpu) = (spread(|run| run.of_ideal), spread(|run| run.cpu_ms));
            table.row([
                store.name().to_owned(),
                sessions.to_string(),
                within_ms.to_string(),
                rate.to_string(),
                cell(of_ideal),
                cell(cpu),
                cell(spread(|run| run.memory_kib)),
            ]);
            let who = format!("{}, {sessions} sessions within {within_ms} ms", store.name());
            let median = |spread: Option<Spread>| spread.map(|spread| spread.median);
            let goal = format!("{who}: at least {OF_IDEAL} of the ideal rate");
            goals.push_str(&report::goal(&goal, median(of_ideal), |part| part >= OF_IDEAL));
            let goal = format!("{who}: at most {CPU_MS} ms of CPU a turn");
            goals.push_str(&report::goal(&goal, median(cpu), |cpu| cpu <= CPU_MS));
        }
    }
    text.push_str(&table.to_string());
    text.push_str(&format!("\nGoals:\n\n{goals}"));
    let faults = runs.iter().filter(|run| run.fault.is_some()).count();
    let goal = format!(
        "Rounds in which a turn is missing, doubled, or at once with another of its session ({ANSWERS} answers a turn)"
    );
    text.push_str(&report::goal(&goal, Some(faults as f64), |rounds| rounds == 0.0));
    text
}

const WORK: &str = "
Every session writes again as soon as it is answered. Those that begin within 0 ms write at the same moment, and the rate is that
of the slowest. Of those that begin one after the other, the time of each counts from its own first message. The model takes its time for each of the three answers of a turn: a call of
a flow of kind `tool`, the message, and nothing more. The ideal is that time alone: a session whose last turn is answered has
waited for all answers of its turns but the very last. Messages of the contact come by the inbox, as from the stream; each step
of a turn is committed, with the message and the session, before the next one begins. The executor has one core, SQLite is in it, and PostgreSQL is on the
other one. The model is in the program: the time of its client over HTTP is not measured.
";
