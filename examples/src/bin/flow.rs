//! A flow held against the lines you type: no database, no network, no clock.
//!
//! `cargo run -p flowsdk-examples --bin flow`

use flowsdk::Flow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let flow = Flow::from_json(include_str!("../../flows/age.json"))?;
    let mut conversation = flow.conversation();
    println!("(say something)");
    for line in std::io::stdin().lines() {
        println!("> {}", conversation.say(line?).texts().join("\n> "));
        if conversation.has_ended() {
            break;
        }
    }
    Ok(())
}
