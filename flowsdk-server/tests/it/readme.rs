//! The first page, whose commands are run, and the samples of the documents, which sign tokens that the server takes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::process::{command, ended};
use crate::harness::{Client, Server, Setup, http};

/// The blocks of code of a page, each with its language.
fn blocks(page: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let page = std::fs::read_to_string(path).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), Vec::new())),
            (Some(_), Some(_)) => {
                blocks.extend(open.take().map(|(language, lines)| (language, lines.join("\n"))));
            }
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    blocks
}

/// The arguments of the server when cargo runs this alias.
fn arguments_of_alias(alias: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cargo/config.toml");
    let config = std::fs::read_to_string(path).unwrap();
    let line = config.lines().find_map(|line| line.strip_prefix(&format!("{alias} = "))).expect("an alias");
    let (cargo, server) = line.trim_matches('"').split_once(" -- ").expect("arguments of the server");
    assert!(cargo.starts_with("run --profile demo"), "{cargo}");
    server.split_whitespace().map(str::to_owned).collect()
}

/// The names at the beginnings of lines.
fn labels(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_once(": ")).map(|(label, _)| label).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_command_prints_the_address_of_a_chat_that_answers() {
    let blocks = blocks("README.md");
    assert_eq!(blocks[0].1, "cargo demo");
    let mut demo = command();
    let dir = tempfile::tempdir().unwrap();
    demo.args(arguments_of_alias("demo")).args(["--listen", "127.0.0.1:0"]).current_dir(dir.path());
    for (name, locale) in [("LC_ALL", ""), ("LC_MESSAGES", ""), ("LANG", "C.UTF-8")] {
        demo.env(name, locale);
    }
    let server = Server::start(demo, dir.path(), "demo").await;
    let printed = server.output();
    assert_eq!(labels(&printed), labels(&blocks[1].1), "{printed}");
    let chat = printed.trim().lines().next().unwrap().trim_start_matches("Chat:").trim();
    let (origin, path) = chat.split_at(chat.rfind("/chat/").unwrap());
    assert_eq!(origin, format!("http://{}", server.addr));
    assert_eq!(http::get(server.addr, path, &[]).await.status, 200);
    assert_eq!(http::get(server.addr, "/docs/", &[]).await.status, 200);
    assert!(dir.path().join("data").is_dir());
    let (mut client, _) =
        Client::enter(server.addr, json!({ "channelId": path.trim_start_matches("/chat/") })).await;
    assert!(client.texts(1).await[0].starts_with("Hello!"), "it speaks first");
    client.say("Ana").await;
    assert_eq!(client.texts(1).await, ["Nice to meet you, Ana!"]);
    // The desk opens as it is printed, and ends with its input.
    let desk_of =
        |text: &str| text.lines().find_map(|line| line.strip_prefix("Desk:")).unwrap().trim().to_owned();
    let (shown, desk) = (desk_of(&blocks[1].1), desk_of(&printed));
    assert_eq!(shown.split_once(' ').unwrap().1, desk.split_once(' ').unwrap().1);
    let mut shell = Command::new("sh");
    shell.args(["-c", &desk]).current_dir(dir.path()).stdin(Stdio::null());
    let (ok, said) = ended(shell).await;
    assert!(ok && said.starts_with(&format!("connected to {origin} as ana@flowsdk.local\n")), "{said}");
    assert!(server.stop().await.0.success());
}

/// The sample of how to sign a token.
fn sample_of(language: &str) -> String {
    let signs = |(of, code): &(String, String)| of == language && code.contains("HS256");
    blocks("docs/webchat.md").into_iter().find(signs).expect("a sample").1
}

/// Each sample in a program of its own, which prints a token of Ana.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_samples_sign_tokens_that_let_a_visitor_in() {
    const JS: &str =
        r#"console.log(embedToken({ id: "ana-1", name: "Ana", plan: "gold" }, process.argv[2]));"#;
    const PYTHON: &str =
        "import sys\nprint(embed_token({'id': 'ana-1', 'name': 'Ana', 'plan': 'gold'}, sys.argv[1]))";
    let dir = tempfile::tempdir().unwrap();
    let mut samples = Vec::new();
    for (language, file, program, call) in
        [("js", "sample.mjs", "node", JS), ("python", "sample.py", "python3", PYTHON)]
    {
        let code = sample_of(language);
        if Command::new(program).arg("--version").output().is_err() {
            eprintln!("SKIPPED: the sample in {language} needs {program}");
            continue;
        }
        let path = dir.path().join(file);
        std::fs::write(&path, format!("{code}\n{call}\n")).unwrap();
        samples.push((program, path));
    }
    let setup = Setup::embedded().await;
    let server = setup.start().await;
    for (program, path) in samples {
        let output = Command::new(program).arg(&path).arg(&setup.seeded.secret).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        let token = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        setup.plant(&token);
        let auth = json!({ "channelId": setup.seeded.closed, "token": token });
        let (mut client, ok) = Client::enter(server.addr, auth).await;
        assert_eq!(ok["userId"], "ana-1", "{program}");
        client.say("oi").await;
        assert_eq!(client.texts(1).await, ["eco oi"], "{program}");
    }
    assert!(server.stop().await.0.success());
}
