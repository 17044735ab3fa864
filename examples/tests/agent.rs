//! The example of an AI agent, as a reader starts it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

#[test]
fn an_agent_answers_from_its_documents() {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_agent"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut said = agent.stdin.take().expect("its input");
    let mut told = BufReader::new(agent.stdout.take().expect("its output")).lines();
    let mut ask = |text: &str, count: usize| -> Vec<String> {
        writeln!(said, "{text}").expect("written");
        told.by_ref().take(count).map(|line| line.expect("a line")).collect()
    };
    assert_eq!(ask("hi", 1), ["ana <- Welcome to the tea house! What would you like to know?"]);
    let price = ask("How much is the green tea?", 1).remove(0);
    assert!(price.starts_with("ana <- Green tea is 12 reais"), "{price}");
    assert_eq!(
        ask("How is it made?", 2),
        ["ana <- Three minutes at 80 °C.", "ana <- Anything else?"],
        "one agent asks another"
    );
    // What is said last is answered before the program ends.
    writeln!(said, "bye").expect("written");
    drop(said);
    let rest: Vec<String> = told.map(|line| line.expect("a line")).collect();
    assert_eq!(rest, ["ana <- See you!", "ana <- Thank you for your visit."]);
    assert!(agent.wait().expect("it ends").success());
}
