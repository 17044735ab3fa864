//! The result of the flow race.

use anyhow::Result;

use super::contender::Contender;
use super::{Options, Run};
use crate::report::{self, Measured, Table, cell, spread};
use crate::turns::Extent;

/// Turns a second and resident MiB of Typebot's engine, measured once on an AMD EPYC, where botbuilder makes some 1,500.
const TYPEBOT: (f64, f64) = (300.0, 674.0);

impl Measured for Run {
    type Contender = Contender;

    fn contender(&self) -> Contender {
        self.contender
    }

    fn figures(&self) -> String {
        let Run { contender, round, rate, cpu_micros, p50_ms, p99_ms, resident_kib, .. } = self;
        format!(
            "round {round}, {}: {rate:.0}/s, {cpu_micros:.1} us CPU, p50 {p50_ms:.2} p99 {p99_ms:.2} ms, {} MiB",
            contender.name(),
            resident_kib / 1024
        )
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// An answer was missing, wrong, or stored another number of times than once.
pub(super) fn finish(options: &Options, runs: &[Run]) -> Result<()> {
    report::finish(&options.common, "flow", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run]) -> String {
    let mut text = String::from("## Turns of a flow\n\n");
    let (Extent { rounds, seconds, .. }, conversations) = (&options.extent, options.conversations);
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench flow --rounds {rounds} --seconds {seconds} --conversations {conversations}"
    )));
    text.push_str(WORK);
    text.push_str(&format!(
        "\nClosed loop, {conversations} conversations, one message under way in each:\n\n"
    ));
    let median = |who, of: fn(&Run) -> f64| spread(runs, who, of).map(|spread| spread.median);
    let [peer, replies] =
        [Contender::Botbuilder, Contender::BotbuilderReplies].map(|who| median(who, |run| run.rate));
    let mut table = Table::new(&[
        "",
        "turns/s",
        "server CPU, us/turn",
        "p50, ms",
        "p99, ms",
        "resident, MiB",
        "times botbuilder",
        "times `expectReplies`",
        "times Typebot",
    ]);
    let times =
        |rate: f64, peer: Option<f64>| peer.map_or("-".to_owned(), |peer| format!("{:.1}x", rate / peer));
    for who in Contender::ALL {
        let of = |value: fn(&Run) -> f64| spread(runs, who, value);
        let Some(rate) = of(|run| run.rate) else { continue };
        table.row([
            who.name().to_owned(),
            rate.to_string(),
            cell(of(|run| run.cpu_micros)),
            cell(of(|run| run.p50_ms)),
            cell(of(|run| run.p99_ms)),
            cell(of(|run| run.resident_kib as f64 / 1024.0)),
            times(rate.median, peer),
            times(rate.median, replies),
            times(rate.median, Some(TYPEBOT.0)),
        ]);
    }
    let none = || "-".to_owned();
    table.row([
        "Typebot engine, measured before".to_owned(),
        format!("{:.0}", TYPEBOT.0),
        none(),
        none(),
        none(),
        format!("{:.0}", TYPEBOT.1),
        times(TYPEBOT.0, peer),
        times(TYPEBOT.0, replies),
        "1.0x".to_owned(),
    ]);
    text.push_str(&table.to_string());
    text.push_str("\nGoals:\n\n");
    let over = [
        (Contender::Socket, "the socket"),
        (Contender::SocketNormal, "the socket, commits as the peer's"),
        (Contender::Http, "HTTP"),
        (Contender::HttpNormal, "HTTP, commits as the peer's"),
    ];
    for (who, over) in over {
        let rate = median(who, |run| run.rate);
        let resident = median(who, |run| run.resident_kib as f64 / 1024.0);
        let goal = |what: &str| format!("Over {over}: {what}");
        let botbuilder = rate.zip(peer).map(|(rate, peer)| rate / peer);
        text.push_str(&report::goal(&goal("at least 10x botbuilder"), botbuilder, |times| times >= 10.0));
        let typebot = rate.map(|rate| rate / TYPEBOT.0);
        text.push_str(&report::goal(&goal("at least 50x Typebot"), typebot, |times| times >= 50.0));
        text.push_str(&report::goal(&goal("at most 65 MiB resident"), resident, |mebibytes| {
            mebibytes <= 65.0
        }));
    }
    text
}

const WORK: &str = "
A message runs one step of a flow of three steps and is answered with one interpolated text; the state is stored before the answer.
botbuilder keeps the state of a conversation in one row, with `synchronous=NORMAL`, no messages, and checks no caller. It posts each
answer to the service that brought the message, as it does on every channel of the Bot Framework; that row is what the goal is held
against. `expectReplies` is the mode of bots that call bots: the answer is in the answer to the request, which spares the peer a
request of its own. Ours stores both messages and the session, with `synchronous=FULL` unless it is told otherwise, and captures
each answer in a variable; over HTTP every request brings a signed token that is checked anew. All answers are checked; afterwards
the stored turns must be as many as the messages. Typebot is not started here: it needs a PostgreSQL and a build of its own. Its
figures were measured once, alone, on an AMD EPYC, where botbuilder makes some 1,500 turns a second: on a slower machine they say
little.
";
