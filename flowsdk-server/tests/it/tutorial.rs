//! The tutorial, pasted into a shell.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::process::command;
use crate::harness::{Client, Server};

/// The lines of the page's blocks in this language, of each block apart.
fn blocks(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tutorial.md");
    let page = std::fs::read_to_string(path).unwrap();
    let fences: Vec<&str> = page.split("\n```").collect();
    // Every other piece is inside of a block, behind the name of its language.
    let inside = fences.iter().skip(1).step_by(2).filter_map(|piece| piece.split_once('\n'));
    inside.filter(|(of, _)| *of == language).map(|(_, code)| code.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_blocks_make_a_bot_that_answers() {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if let Some(missing) = ["bash", "curl", "python3"].into_iter().find(|program| !is_there(program)) {
        return eprintln!("SKIPPED: the tutorial needs {missing}");
    }
    let dir = tempfile::tempdir().unwrap();
    let mut allowed = demo(dir.path());
    allowed.env("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1");
    let server = Server::start(allowed, dir.path(), "demo").await;
    let started: Value = serde_json::from_str(server.output().lines().next().unwrap()).unwrap();
    let script = blocks("sh").join("\n");
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", &script]).current_dir(dir.path());
    shell.env("SERVER", format!("http://{}", server.addr));
    shell.env("PASSWORD", started["adminPassword"].as_str().unwrap());
    let output = tokio::task::spawn_blocking(move || shell.output()).await.unwrap().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let said: Vec<&str> =
        printed.lines().filter(|line| line.starts_with("bot: ") || line.starts_with("you: ")).collect();
    let promised = blocks("").pop().unwrap();
    assert_eq!(said, promised.lines().collect::<Vec<_>>());

    let chat = printed.lines().find_map(|line| line.split_once("/chat/")).unwrap().1;
    let page = std::fs::read_to_string(dir.path().join("shop.html")).unwrap();
    assert!(page.contains(&format!("http://{}", server.addr)) && page.contains(chat), "{page}");
    let (mut visitor, _) = Client::enter(server.addr, json!({ "channelId": chat })).await;
    assert_eq!(visitor.texts(1).await, ["Welcome to Pizza Uno! What is your name?"], "it speaks first");
    visitor.say("Bia").await;
    assert_eq!(visitor.texts(1).await, ["How many pizzas, Bia?"]);
    visitor.say("12").await;
    assert_eq!(visitor.texts(1).await, ["12 pizzas are a party! We will call you, Bia."]);
    assert!(server.stop().await.0.success());

    // Without the variable the kitchen may not be asked, and the log says so.
    let server = Server::start(demo(dir.path()), dir.path(), "again").await;
    let (mut visitor, _) = Client::enter(server.addr, json!({ "channelId": chat })).await;
    visitor.say("Caio").await;
    visitor.say("2").await;
    visitor.until("Our kitchen does not answer. Please call us.").await;
    let log = server.log();
    let caught = log.lines().find(|line| line.contains("http_forbidden")).expect("it is in the log");
    assert!(caught.contains("\"block\":\"order\"") && caught.contains("\"flow\":\""), "{caught}");
    assert!(server.stop().await.0.success());
}

fn demo(folder: &Path) -> Command {
    let mut demo = command();
    demo.args(["demo", "--listen", "127.0.0.1:0", "--json", "--lang", "en"]).current_dir(folder);
    demo
}
