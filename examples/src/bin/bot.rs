//! A bot over a SQLite file, with the terminal as its transport. Stop it, start it again: the conversation goes on.
//!
//! `cargo run -p flowsdk-examples --bin bot -- bot.db`

use flowsdk::{Bot, Flow};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "bot.db".to_owned());
    let flow = Flow::from_json(include_str!("../../flows/age.json"))?;
    let bot = Bot::builder(flow)
        .sqlite(file)
        .on_answer(|answer| println!("{} <- {}", answer.to, answer.text()))
        .start()
        .await?;
    for line in std::io::stdin().lines() {
        bot.receive("ana", line?).await?;
    }
    bot.stop().await;
    Ok(())
}
