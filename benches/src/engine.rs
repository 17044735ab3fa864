//! The engine alone: turns of a flow of three blocks in memory, without storage or sockets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use flowsdk_core::contact::Contact;
use flowsdk_core::context::OpContext;
use flowsdk_core::flow::{CompiledFlow, Effect, FlowVersion, NoFlows, Scene, Trigger, TurnEnd, run};
use flowsdk_core::id::{ChatId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{Router, StaticVariables};
use flowsdk_core::session::{Channel, Position, Session, SessionId};
use serde::Serialize;
use serde_json::{Value, json};

use crate::machine::{self, Cores};
use crate::report::{self, Spread, Table};

/// Turns a second of one core, at least.
const GOAL: f64 = 200_000.0;
/// How many sessions take turns, so that none stays in the innermost cache.
const SESSIONS: usize = 1_000;
/// The texts of a visitor, in order, for as long as the race goes on.
const LINES: [&str; 3] = ["Ana", "42", "sim"];

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    /// How often everything is repeated
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Seconds of a round
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the result into docs/performance.md
    #[arg(long)]
    write: bool,
}

/// The figures of all rounds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Results {
    turns_per_second: Option<Spread>,
}

/// Asks for a name, a number and a word, and goes on from the last to the first.
fn definition() -> Value {
    let ask = |id: &str, text: &str, variable: &str, next: &str| {
        json!({ "id": id, "type": "content", "contents": [{ "type": "text", "text": { "body": text } }],
            "input": { "variable": variable },
            "outputConditions": [{ "id": "no", "target": { "blockId": id },
                "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": ["não"] }] }],
            "defaultOutput": { "blockId": next } })
    };
    json!({ "schemaVersion": 1, "startBlockId": "name", "blocks": [
        ask("name", "Olá! Como você se chama?", "name", "age"),
        ask("age", "{{name}}, qual a sua idade?", "age", "sure"),
        ask("sure", "{{age}} anos, {{name}}: certo?", "sure", "name"),
    ] })
}

/// The answer to the line before each of [`LINES`].
const ANSWERS: [&str; 3] = ["Olá! Como você se chama?", "Ana, qual a sua idade?", "42 anos, Ana: certo?"];

/// A session with its contact, between turns.
#[derive(Clone)]
pub(crate) struct Talk {
    pub(crate) session: Session,
    pub(crate) contact: Contact,
}

impl Talk {
    /// Returns a session that stands at the start of `flow`.
    pub(crate) fn at_start(cx: &OpContext, flow: &CompiledFlow, number: usize) -> Result<Self> {
        let id = SessionId::parse(format!("wc-race-{number}"))?;
        let contact = Contact::create(cx, id.contact_identity(), "Ana".to_owned(), Channel::Webchat);
        let chat = ChatId::generate(cx.ids());
        let mut session = Session::begin(id, flow.router_id().clone(), contact.id.clone(), chat, cx.now());
        session.position = Some(Position {
            flow_id: flow.flow_id().clone(),
            version_id: flow.version_id().clone(),
            block_id: None,
            waiting: None,
        });
        Ok(Self { session, contact })
    }
}

/// Returns a published version of `definition`.
pub(crate) fn compile(cx: &OpContext, router: &Router, definition: Value) -> Result<Arc<CompiledFlow>> {
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: FlowId::generate(cx.ids()),
        router_id: router.id.clone(),
        flow_name: "Race".to_owned(),
        number: 1,
        definition: definition.into(),
        created_at: cx.now(),
    };
    CompiledFlow::compile(&version)
        .map_err(|problems| anyhow::anyhow!("the flow does not compile: {problems:?}"))
}

struct World {
    cx: OpContext,
    router: Router,
    flow: Arc<CompiledFlow>,
    talks: Vec<Talk>,
}

impl World {
    fn new() -> Result<Self> {
        let cx = OpContext::system();
        let router = Router::new(RouterId::generate(cx.ids()), "Race", cx.now());
        let flow = compile(&cx, &router, definition())?;
        let talks = (0..SESSIONS).map(|number| Talk::at_start(&cx, &flow, number)).collect::<Result<_>>()?;
        Ok(Self { cx, router, flow, talks })
    }

    /// Every visitor says `line`; each must get `answer`.
    fn lap(&mut self, message: &IncomingMessage, answer: &str) -> Result<()> {
        let statics = StaticVariables::default();
        let now = self.cx.now();
        for talk in std::mem::take(&mut self.talks) {
            let entered = talk.session.position.as_ref().is_some_and(|position| position.block_id.is_some());
            let trigger = if entered { Trigger::Message(message) } else { Trigger::Start(message) };
            let flow = Arc::clone(&self.flow);
            let scene = Scene { flow, router: &self.router, statics: &statics, now, flows: &NoFlows };
            let outcome = run(&scene, talk.session, talk.contact, trigger);
            ensure!(matches!(outcome.end, TurnEnd::Waiting), "a turn ended as {:?}", outcome.end);
            let [Effect::Send(content)] = outcome.effects.as_slice() else {
                anyhow::bail!("{} effects", outcome.effects.len());
            };
            ensure!(content.texts() == [answer], "{:?} instead of {answer:?}", content.texts());
            // A save stores the archive in rows of its own, and the next turn reads a session without it.
            let session = Session { archive: Vec::new(), ..outcome.session };
            self.talks.push(Talk { session, contact: outcome.contact });
        }
        Ok(())
    }
}

/// Runs the race.
pub(crate) fn race(options: &Options) -> Result<()> {
    machine::pin(Cores::choose()?.load)?;
    let mut rates = Vec::new();
    for round in 0..options.rounds {
        let mut world = World::new()?;
        let lines: Vec<_> = LINES.iter().map(|line| IncomingMessage::text("line", *line)).collect();
        let (began, mut turns) = (Instant::now(), 0);
        let patience = Duration::from_secs_f64(options.seconds);
        // The first line only begins the conversation.
        world.lap(&lines[2], ANSWERS[0])?;
        while began.elapsed() < patience {
            for (line, answer) in lines.iter().zip([ANSWERS[1], ANSWERS[2], ANSWERS[0]]) {
                world.lap(line, answer)?;
                turns += SESSIONS;
            }
        }
        let rate = turns as f64 / began.elapsed().as_secs_f64();
        eprintln!("round {round}: {rate:.0} turns/s");
        rates.push(rate);
    }
    let results = Results { turns_per_second: Spread::of(rates) };
    let section = section(options, &results).context("no round")?;
    if options.json {
        println!("{}", serde_json::to_string(&results)?);
    } else {
        println!("{section}");
    }
    if options.write {
        report::write("engine", &section)?;
    }
    Ok(())
}

fn section(options: &Options, results: &Results) -> Option<String> {
    let rate = results.turns_per_second?;
    let command =
        format!("cargo xtask bench engine --rounds {} --seconds {}", options.rounds, options.seconds);
    let mut table = Table::new(&["turns/s", "us/turn"]);
    table.row([rate.to_string(), format!("{:.2}", 1e6 / rate.median)]);
    Some(format!(
        "## The engine alone\n\n{}\nA flow of three blocks, each with a text, an input and a condition, by {SESSIONS} sessions in turns on one \
         core, in memory. Every\nanswer is compared.\n\n{table}\nGoals:\n\n{}",
        report::circumstances(&command),
        report::goal("At least 200,000 turns a second", Some(rate.median), |rate| rate >= GOAL),
    ))
}
