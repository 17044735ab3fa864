//! The result of the race of the helpdesk.

use anyhow::Result;
use serde::Serialize;

use super::floor::AGENTS;
use super::{BATCH, Contender, Options, Store, Work, times};
use crate::report::{self, Contender as _, Measured, Spread, Table, cell};

/// The goal: how many times as long as the statements.
const RATIO: f64 = 1.5;

/// What one contender did in one round.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) store: Store,
    pub(super) work: Work,
    pub(super) contender: Contender,
    pub(super) round: u32,
    /// Tickets a second that agents got.
    pub(super) rate: f64,
    /// Processor time of the program for each; that of PostgreSQL is not in it.
    pub(super) cpu_micros: f64,
    /// Of a pickup, or of a batch of handoffs.
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
    /// Why it does not count.
    pub(super) fault: Option<String>,
}

impl Measured for Run {
    type Contender = Contender;

    fn contender(&self) -> Contender {
        self.contender
    }

    fn figures(&self) -> String {
        let Run { store, work, round, rate, cpu_micros, p50_ms, p99_ms, .. } = self;
        format!(
            "round {round}, {}, {}, {}: {rate:.0}/s, {cpu_micros:.1} us CPU, p50 {p50_ms:.2} p99 {p99_ms:.2} ms",
            store.name(),
            work.name(),
            self.contender.name()
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// A ticket has no owner or two, or its owner was not told of it once.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "desk", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let Options { rounds, tickets, handoffs, limit, .. } = options;
    let mut text = String::from("## Helpdesk: pickups and handoffs\n\n");
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench desk --rounds {rounds} --tickets {tickets} --handoffs {handoffs} --limit {limit}"
    )));
    text.push_str(WORK);
    let mut goals = String::new();
    for store in Store::ALL {
        for work in Work::ALL {
            let own: Vec<&Run> = runs.iter().filter(|run| run.store == store && run.work == work).collect();
            if own.is_empty() {
                continue;
            }
            let (store, many) = (store.name(), matches!(work, Work::Pickup));
            text.push_str(&match many {
                true => format!("\n{store}, {tickets} tickets that {AGENTS} agents pick up:\n\n"),
                false => format!("\n{store}, {handoffs} handoffs in batches of {BATCH}:\n\n"),
            });
            let (table, ratios) = table(&own, if many { "a pickup" } else { "a batch" });
            text.push_str(&table.to_string());
            for (raw, ratio) in ratios {
                let name = if raw == Contender::RawGroups { ", the raw ones in groups" } else { "" };
                let goal =
                    format!("{store}, {}{name}: at most {RATIO}x the time of its raw SQL", work.name());
                goals.push_str(&report::goal(&goal, ratio, |ratio| ratio <= RATIO));
            }
        }
    }
    text.push_str("\nGoals:\n\n");
    text.push_str(&goals);
    let picked: Vec<&Run> = runs.iter().filter(|run| run.work == Work::Pickup).collect();
    if !picked.is_empty() {
        let doubled = picked.iter().filter(|run| run.fault.is_some()).count();
        let goal = format!("Rounds of {tickets} pickups in which a ticket has no owner or two");
        text.push_str(&report::goal(&goal, Some(doubled as f64), |rounds| rounds == 0.0));
    }
    text
}

/// The table of one work on one store, and how many times as long as each of the others ours takes.
fn table(runs: &[&Run], latency_of: &str) -> (Table, Vec<(Contender, Option<f64>)>) {
    let latency = ["p50", "p99"].map(|part| format!("{part} of {latency_of}, ms"));
    let mut table =
        Table::new(&["", "tickets/s", "CPU, us/ticket", &latency[0], &latency[1], "FlowSDK takes"]);
    let spread = |who: Contender, of: fn(&Run) -> f64| {
        Spread::of(runs.iter().filter(|run| run.contender == who && run.fault.is_none()).map(|run| of(run)))
    };
    let ours = spread(Contender::FlowSdk, |run| run.rate);
    let mut ratios = Vec::new();
    for who in Contender::ALL {
        let rate = spread(who, |run| run.rate);
        if rate.is_none() {
            continue;
        }
        let ratio = times(ours, rate);
        table.row([
            who.name().to_owned(),
            cell(rate),
            cell(spread(who, |run| run.cpu_micros)),
            cell(spread(who, |run| run.p50_ms)),
            cell(spread(who, |run| run.p99_ms)),
            report::times(ratio),
        ]);
        if who != Contender::FlowSdk {
            ratios.push((who, ratio));
        }
    }
    (table, ratios)
}

const WORK: &str = "
Tickets wait in four queues from which agents pick up; each agent works in two of them. All agents ask at once, and again as soon as they
are answered, until nothing waits. A conversation that is handed over goes to one of four queues by the first rule that holds, its ticket to
the agent with the fewest, and the agent's desk is told. An agent who has as many tickets as they may has them closed while the clock
stands still, and so is the log of SQLite moved into its file. At the end of every round each ticket must have one owner, the one to whom it
was given; each owner must have been told of each ticket once; and the numbers of what each was told must have no gaps.

Raw is the same rows by hand-written SQL: one statement takes the oldest ticket of the agent's queues and gives it to them, another one
numbers and stores what they are told, and a commit ends it. It knows the agent's queues, counts no tickets against a limit, asks for no
permission, and for webhooks neither. Handoffs are two commits of statements of many rows: tickets and sessions, then owners and what they
are told. On SQLite it is straight on the library, agent by agent, with a commit each, or with one for all agents. Everything commits with
`synchronous=FULL` there; PostgreSQL runs without `fsync`, on the other core.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn run(contender: Contender, rate: f64, fault: Option<&str>) -> Run {
        Run {
            store: Store::Sqlite,
            work: Work::Pickup,
            contender,
            round: 0,
            rate,
            cpu_micros: 1e6 / rate,
            p50_ms: 1.0,
            p99_ms: 2.0,
            fault: fault.map(str::to_owned),
        }
    }

    #[test]
    fn ours_is_compared_with_each_of_the_others() {
        let runs = [
            run(Contender::FlowSdk, 1_000.0, None),
            run(Contender::FlowSdk, 9_000.0, Some("two have one ticket")),
            run(Contender::Raw, 1_500.0, None),
        ];
        let (table, ratios) = table(&runs.iter().collect::<Vec<_>>(), "a pickup");
        assert_eq!(ratios, [(Contender::Raw, Some(1.5))]);
        let table = table.to_string();
        assert!(table.contains("| FlowSDK | 1000 (1000-1000) |"), "{table}");
        assert!(table.contains("| raw: statements | 1500 (1500-1500) |"), "{table}");
    }
}
