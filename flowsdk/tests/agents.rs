//! Bots whose flow hands over to AI agents.
#![cfg(feature = "bot")]

use std::time::Duration;

use flowsdk::agent::scripted::{Script, Scripted};
use flowsdk::agent::set::AgentSet;
use flowsdk::{Answer, Bot, BotBuilder, BotError, Flow};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Hands everything over to the agent `tea`.
fn flow() -> Flow {
    Flow::from_value(json!({ "schemaVersion": 1, "startBlockId": "tea", "blocks": [
        { "id": "tea", "type": "agent", "agentId": "tea", "maxMessages": 9, "outputConditions": [],
            "defaultOutput": { "end": true } }] }))
    .expect("a flow")
}

/// A model that says what a search finds.
fn quoting() -> Scripted {
    let script = r#"{ "rules": [
        { "when": { "input": "(.+)" }, "calls": [{ "tool": "ragSearch", "arguments": { "query": "{{1}}" } }] },
        { "when": { "after": "ragSearch" }, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "{{result}}" } }] }] }"#;
    Scripted::new(Script::parse(script).expect("a script"))
}

fn agents(documents: &Value) -> AgentSet {
    let set = json!({ "agents": [{ "id": "tea", "prompt": "Sell tea.", "guardrails": ["No coffee."] }],
        "documents": documents });
    AgentSet::from_json(&set.to_string()).expect("a set")
}

fn bot(set: AgentSet) -> (BotBuilder, mpsc::UnboundedReceiver<Answer>) {
    let (sender, answers) = mpsc::unbounded_channel();
    let builder = Bot::builder(flow())
        .agents(set, quoting())
        .quiet(Duration::ZERO)
        .on_answer(move |answer| sender.send(answer).expect("somebody listens"));
    (builder, answers)
}

async fn told(answers: &mut mpsc::UnboundedReceiver<Answer>) -> String {
    answers.recv().await.expect("an answer").text().to_owned()
}

#[tokio::test]
async fn agents_know_what_the_set_has_at_the_last_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bot.db");
    let menu = json!({ "name": "Menu", "text": "Green tea is 12 reais." });
    let hours = json!({ "name": "Hours", "text": "We open at nine." });
    let (builder, mut answers) = bot(agents(&json!([menu, hours])));
    let bot_before = builder.sqlite(&file).start().await.expect("a bot");
    bot_before.receive("ana", "green tea").await.expect("received");
    let both = told(&mut answers).await;
    assert!(both.contains("12 reais") && both.contains("nine"), "{both}");
    // What is asked last is answered before it stops.
    bot_before.receive("ana", "when?").await.expect("received");
    bot_before.stop().await;
    assert!(told(&mut answers).await.contains("nine"));

    let dearer = json!({ "name": "Menu", "text": "Green tea is 14 reais." });
    let (builder, mut answers) = bot(agents(&json!([dearer])));
    let bot_after = builder.sqlite(&file).start().await.expect("a bot");
    bot_after.receive("ana", "green tea").await.expect("received");
    let now = told(&mut answers).await;
    assert!(now.contains("14 reais") && !now.contains("12") && !now.contains("nine"), "{now}");
    bot_after.stop().await;
}

#[tokio::test]
async fn a_set_that_cannot_be_used_is_refused() {
    let mut set = agents(&json!([]));
    set.agents.clear();
    let (builder, _answers) = bot(set);
    assert!(matches!(builder.start().await, Err(BotError::Agents(_))));
}
