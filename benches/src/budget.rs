//! Turns that use up their budget of work, one for each kind of work: a unit is worth its time if none takes long.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use flowsdk_core::context::OpContext;
use flowsdk_core::flow::{CompiledFlow, FlowSource, MAX_TURN_WORK, Scene, Trigger, TurnEnd, run};
use flowsdk_core::id::{FlowId, FlowVersionId, RouterId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{Router, StaticVariables};
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::{self, Talk};
use crate::machine::{self, Cores};
use crate::report::{self, Spread, Table};

/// Milliseconds of the longest turn, at most.
const GOAL: f64 = 50.0;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    /// How often each turn is repeated
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the result into docs/performance.md
    #[arg(long)]
    write: bool,
}

/// Work of one kind: a flow that repeats it, over the text of one variable.
struct Kind {
    name: &'static str,
    block: Value,
    text: String,
}

impl Kind {
    fn new(name: &'static str, block: Value, text: &str) -> Self {
        Self { name, block, text: text.to_owned() }
    }

    /// A block that compares the text with `values`, one condition each.
    fn comparing(
        name: &'static str,
        comparator: &str,
        values: impl Iterator<Item = String>,
        text: &str,
    ) -> Self {
        let outputs: Vec<Value> = values
            .map(|value| {
                let condition = json!({ "source": { "type": "context", "key": "long" },
                    "comparator": comparator, "values": [value] });
                json!({ "conditions": [condition], "target": { "end": true } })
            })
            .collect();
        Self::new(name, json!({ "outputConditions": outputs }), text)
    }
}

fn kinds() -> Vec<Kind> {
    let long = "ab".repeat(30_000);
    let accents = "ação ".repeat(9_000);
    let texts = |n| format!("x{n}");
    let token =
        json!([{ "type": "setVariable", "key": "x", "value": "{{session.sessionHistory.0.block.id}}" }]);
    let body = json!([{ "type": "text", "text": { "body": "Oi" } }]);
    vec![
        Kind::comparing(
            "counted patterns",
            "matches",
            (0..300).map(|n| format!("[ab]*a[ab]{{400}}c{n}")),
            &long,
        ),
        Kind::comparing(
            "nested patterns",
            "matches",
            (0..10).map(|n| format!("(?:[ab]{{0,60}}a){{30}}c{n}")),
            &long,
        ),
        Kind::comparing("word patterns", "matches", (0..50).map(|n| format!(r"\w+@\w+\.{n}")), &accents),
        Kind::comparing("searched text", "contains", (0..100).map(texts), &long),
        Kind::comparing("searched text with accents", "contains", (0..100).map(texts), &accents),
        Kind::comparing("short texts", "equals", (0..100).map(texts), "x"),
        Kind::comparing("dates", "greaterThan", (0..100).map(|_| "2030-01-01".to_owned()), "2026-01-01"),
        Kind::comparing(
            "filled in variables",
            "contains",
            std::iter::once("{{session.variables}}".repeat(2)),
            &long,
        ),
        Kind::new("empty blocks", json!({}), "x"),
        Kind::new("tokens", json!({ "onEnter": token }), "x"),
        Kind::new("messages", json!({ "contents": body }), "x"),
    ]
}

/// The figures of a kind.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Figures {
    kind: &'static str,
    millis: Spread,
    nanos_per_unit: f64,
}

/// A flow that leads to itself.
struct Circle(Arc<CompiledFlow>);

impl FlowSource for Circle {
    fn published(&self, flow: &FlowId) -> Option<Arc<CompiledFlow>> {
        (self.0.flow_id() == flow).then(|| Arc::clone(&self.0))
    }

    fn version(&self, version: &FlowVersionId) -> Option<Arc<CompiledFlow>> {
        (self.0.version_id() == version).then(|| Arc::clone(&self.0))
    }
}

fn measure(kind: &Kind, rounds: u32) -> Result<Figures> {
    let cx = OpContext::system();
    let router = Router::new(RouterId::generate(cx.ids()), "Race", cx.now());
    let mut block = kind.block.clone();
    block["id"] = json!("a");
    block["type"] = json!("content");
    block["defaultOutput"] = json!({ "blockId": "a" });
    let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [block],
        "settings": { "maxStepsPerTurn": 10_000 } });
    let flow = engine::compile(&cx, &router, definition)?;
    let mut talk = Talk::at_start(&cx, &flow, 0)?;
    talk.session.variables.insert("long".to_owned(), json!(kind.text));
    let (statics, circle) = (StaticVariables::default(), Circle(Arc::clone(&flow)));
    let scene = Scene { flow, router: &router, statics: &statics, now: cx.now(), flows: &circle };
    let message = IncomingMessage::text("line", "Oi");
    let (mut millis, mut work) = (Vec::new(), 0);
    for _ in 0..rounds {
        let Talk { session, contact } = talk.clone();
        let began = Instant::now();
        let outcome = run(&scene, session, contact, Trigger::Start(&message));
        millis.push(began.elapsed().as_secs_f64() * 1e3);
        ensure!(
            matches!(outcome.end, TurnEnd::Frozen(_)),
            "{}: the turn ended as {:?}",
            kind.name,
            outcome.end
        );
        work = outcome.work;
    }
    let millis = Spread::of(millis).context("no round")?;
    Ok(Figures { kind: kind.name, millis, nanos_per_unit: millis.median * 1e6 / work as f64 })
}

/// Runs the race.
pub(crate) fn race(options: &Options) -> Result<()> {
    machine::pin(Cores::choose()?.load)?;
    let results: Vec<_> = kinds().iter().map(|kind| measure(kind, options.rounds)).collect::<Result<_>>()?;
    let section = section(options, &results);
    if options.json {
        println!("{}", serde_json::to_string(&results)?);
    } else {
        println!("{section}");
    }
    if options.write {
        report::write("budget", &section)?;
    }
    Ok(())
}

fn section(options: &Options, results: &[Figures]) -> String {
    let mut table = Table::new(&["work", "ms", "ns/unit"]);
    for result in results {
        table.row([
            result.kind.to_owned(),
            result.millis.to_string(),
            format!("{:.2}", result.nanos_per_unit),
        ]);
    }
    let longest = results.iter().map(|result| result.millis.median).max_by(f64::total_cmp);
    format!(
        "## The budget of a turn\n\n{}\nA block that leads to itself until the turn is ended by the guard against loops (10,000 blocks) or by \
         its budget of {} million\nunits of work.\n\n{table}\nGoals:\n\n{}",
        report::circumstances(&format!("cargo xtask bench budget --rounds {}", options.rounds)),
        MAX_TURN_WORK / 1_000_000,
        report::goal("Milliseconds of the longest, at most 50", longest, |millis| millis <= GOAL),
    )
}
