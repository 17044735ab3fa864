//! An AI agent that answers from two documents, on a scripted model: no key, no network. A model of yours is a `ModelProvider`.
//!
//! `cargo run -p flowsdk-examples --bin agent`, and then ask how much the green tea is.

use std::time::Duration;

use flowsdk::agent::scripted::{Script, Scripted};
use flowsdk::agent::set::AgentSet;
use flowsdk::{Bot, Flow};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flow = Flow::from_json(include_str!("../../agents/tea.flow.json"))?;
    let agents = AgentSet::from_json(include_str!("../../agents/tea.json"))?;
    let model = Scripted::new(Script::parse(include_str!("../../agents/tea.script.json"))?);
    let bot = Bot::builder(flow)
        .agents(agents, model)
        .quiet(Duration::from_millis(100))
        .on_answer(|answer| println!("{} <- {}", answer.to, answer.text()))
        .start()
        .await?;
    for line in std::io::stdin().lines() {
        bot.receive("ana", line?).await?;
    }
    bot.stop().await;
    Ok(())
}
