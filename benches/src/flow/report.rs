//! The result of the flow race.

use anyhow::Result;

use super::Options;
use super::contender::Contender;
use crate::report;
use crate::requests::{Figures, Run};
use crate::turns::Extent;

/// Turns a second and resident MiB of Typebot's engine, measured once on an AMD EPYC, where botbuilder makes some 1,500.
const TYPEBOT: (f64, f64) = (300.0, 674.0);

/// Prints the result, and writes it if that is wanted.
///
/// # Errors
/// An answer was missing, wrong, or stored another number of times than once.
pub(super) fn finish(options: &Options, runs: &[Run<Contender>]) -> Result<()> {
    report::finish(&options.common, "flow", &section(options, runs), runs)
}

fn section(options: &Options, runs: &[Run<Contender>]) -> String {
    let mut text = String::from("## Turns of a flow\n\n");
    let (Extent { rounds, seconds, .. }, conversations) = (&options.extent, options.conversations);
    text.push_str(&report::circumstances(&format!(
        "cargo xtask bench flow --rounds {rounds} --seconds {seconds} --conversations {conversations}"
    )));
    text.push_str(WORK);
    text.push_str(&format!(
        "\nClosed loop, {conversations} conversations, one message under way in each:\n\n"
    ));
    let mut table =
        Figures::table(["turn", "turns"], &["times botbuilder", "times `expectReplies`", "times Typebot"]);
    let figures = |who| Figures::of(runs, who);
    let peers =
        [Contender::Botbuilder, Contender::BotbuilderReplies].map(|who| Some(figures(who)?.rate.median));
    let [botbuilder, replies] = peers;
    let times = |rate: f64| {
        [botbuilder, replies, Some(TYPEBOT.0)].map(|peer| report::times(peer.map(|peer| rate / peer)))
    };
    for who in Contender::ALL {
        let Some(figures) = figures(who) else { continue };
        table.row(figures.cells(who).into_iter().chain(times(figures.rate.median)));
    }
    let none = || "-".to_owned();
    let typebot = [
        "Typebot engine, measured before".to_owned(),
        format!("{:.0}", TYPEBOT.0),
        none(),
        none(),
        none(),
        format!("{:.0}", TYPEBOT.1),
    ];
    table.row(typebot.into_iter().chain(times(TYPEBOT.0)));
    text.push_str(&table.to_string());
    text.push_str("\nGoals:\n\n");
    let over = [
        (Contender::Socket, "the socket"),
        (Contender::SocketNormal, "the socket, commits as the peer's"),
        (Contender::Http, "HTTP"),
        (Contender::HttpNormal, "HTTP, commits as the peer's"),
    ];
    for (who, over) in over {
        let rate = figures(who).map(|figures| figures.rate.median);
        let resident = figures(who).map(|figures| figures.mebibytes.median);
        let goal = |what: &str| format!("Over {over}: {what}");
        let times = rate.zip(botbuilder).map(|(rate, peer)| rate / peer);
        text.push_str(&report::goal(&goal("at least 10x botbuilder"), times, |times| times >= 10.0));
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
