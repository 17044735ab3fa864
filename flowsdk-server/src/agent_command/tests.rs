use std::path::Path;

use super::*;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/agents/tea.test.yaml")
}

struct Told {
    folder: tempfile::TempDir,
}

impl Told {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file beside a script that echoes, and says nothing to `nothing`.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let script = r#"{ "rules": [
            { "when": { "input": "nothing|You have not answered" } },
            { "when": { "input": "bye" }, "calls": [{ "tool": "endAgentSession", "arguments": { "reason": "resolved" } }] },
            { "when": { "input": "(.*)" }, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "<{{1}}>" } }] }] }"#;
        std::fs::write(self.at("echo.json"), script).expect("written");
        std::fs::write(self.at(name), text).expect("written");
        self.at(name)
    }
}

/// Scenarios of one agent that echoes.
fn echoes(scenarios: &str) -> String {
    format!(
        "agents: [{{ id: echo, prompt: Repeat it. }}]\nmodel: {{ script: echo.json }}\nscenarios:\n{scenarios}"
    )
}

async fn tested(file: PathBuf) -> Result<Printed, String> {
    let command = AgentCommand::Test { file, junit: None, record: None, replay: None };
    run(&command, |_| Ok(())).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn the_sample_passes() {
    let printed = tested(sample()).await.expect("played");
    assert!(printed.ok && printed.text.ends_with("4 passed, 0 failed\n"), "{}", printed.text);
    assert!(
        printed.text.contains("Lin answers from the documents ... ok (2 turns, cost 0.00"),
        "{}",
        printed.text
    );
}

#[tokio::test]
async fn what_is_not_met_is_told_with_its_place() {
    let told = Told::new();
    let file = told.file(
        "a.yaml",
        &echoes(
            r#"
  - name: all <wrong>
    turns:
      - customer: hello
        expect: { calls: [ragSearch], contains: [bye], matches: ['^\d+$'], not: ["<hello>"] }
      - customer: again
        expect: { calls: [{ tool: sendTextMessage, arguments: { text: other } }] }
    end: { reason: resolved }
    maxTurns: 1
    maxCost: 0
  - name: right
    turns: [{ customer: hello, expect: { contains: [hello] } }, { customer: bye }]
    end: { reason: resolved }
  - name: silent
    turns: [{ customer: nothing }]
  - name: known to be silent
    turns: [{ customer: nothing }]
    end: { reason: fallback_stuck }
"#,
        ),
    );
    let junit = told.at("junit.xml");
    let command = AgentCommand::Test { file, junit: Some(junit.clone()), record: None, replay: None };
    let printed = run(&command, |_| Ok(())).await.expect("played");
    assert!(!printed.ok);
    for expected in [
        "all <wrong> ... FAILED (2 turns, cost 0)",
        r#"turn 1: calls: expected ragSearch, in this order; called: "sendTextMessage {\"text\":\"<hello>\"}""#,
        r#"turn 1: contains: expected "bye"; told: "<hello>""#,
        r"turn 1: matches: expected /^\d+$/; told: ",
        r#"turn 1: not: "<hello>" was not to be told"#,
        r#"turn 2: calls: expected sendTextMessage {"text":"other"}"#,
        "end: expected resolved; found: the agents still have the conversation",
        "maxTurns: expected at most 1; found: 2",
        r#"maxCost: prices has no model "scripted""#,
        "right ... ok",
        "silent ... FAILED",
        "turn 1: the agent said nothing: fallback_stuck",
        "known to be silent ... ok",
        "2 passed, 2 failed",
    ] {
        assert!(printed.text.contains(expected), "{expected} not in\n{}", printed.text);
    }
    let xml = std::fs::read_to_string(junit).expect("a report");
    assert!(xml.contains(r#"<testsuites tests="4" failures="2" errors="0">"#), "{xml}");
    assert!(xml.contains(r#"name="all &lt;wrong&gt;""#) && !xml.contains("<hello>"), "{xml}");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_told_with_the_place() {
    let told = Told::new();
    let agents = "agents: [{ id: a, prompt: x }]\n";
    for (text, expected) in [
        (format!("{agents}model: {{ script: echo.json }}\nscenarois: []\n"), "scenarois"),
        (format!("{agents}model: {{ script: echo.json }}\nscenarois: []\n"), "line 3"),
        (echoes("  - name: x\n    turns:\n      - customer: hi\n        expct: {}\n"), "line 7"),
        (
            echoes("  - name: x\n    turns: [{ customer: a, expect: { matches: ['('] } }]\n"),
            "regex parse error",
        ),
        (echoes("  - name: x\n    turns: []\n"), "the scenario \"x\" has no turns"),
        (format!("{agents}model: {{ script: gone.json }}\n"), "gone.json: cannot be read"),
        ("agents: []\nmodel: openai\n".to_owned(), "agents: expected at least one"),
        (
            format!("{agents}model: {{ script: echo.json }}\nscenarios: []\n"),
            "scenarios: expected at least one",
        ),
        (format!("agentsFile: x.json\n{agents}model: openai\n"), "agentsFile: expected this, or"),
    ] {
        let why = tested(told.file("a.yaml", &text)).await.expect_err("it cannot be used");
        assert!(
            why.contains(expected) && why.contains(".yaml") || why.contains("gone.json"),
            "{expected}: {why}"
        );
    }
    let why = tested(told.file("a.json", r#"{ "agents": [{ "id": "a", "prompt": "x", "rôle": 1 }] }"#)).await;
    assert!(why.expect_err("it cannot be used").contains("a.json: agents[0].rôle: unknown field"));
}

#[tokio::test]
async fn a_recording_is_played_again_and_nothing_else() {
    let told = Told::new();
    let scenario = |text: &str| {
        echoes(&format!(
            "  - name: x\n    turns: [{{ customer: {text}, expect: {{ contains: [hello] }} }}]\n"
        ))
    };
    let kept = told.at("kept.json");
    let file = told.file("a.yaml", &scenario("hello"));
    let record =
        AgentCommand::Test { file: file.clone(), junit: None, record: Some(kept.clone()), replay: None };
    assert!(run(&record, |_| Ok(())).await.expect("played").ok);
    let replay = AgentCommand::Test { file, junit: None, record: None, replay: Some(kept) };
    let again = run(&replay, |_| Ok(())).await.expect("played");
    assert!(again.ok, "{}", again.text);
    told.file("a.yaml", &scenario("hello!"));
    let other = run(&replay, |_| Ok(())).await.expect("played");
    assert!(!other.ok, "{}", other.text);
    let expected = r#"replay: the model was asked what was not recorded, after "hello!""#;
    assert!(other.text.contains(expected), "{}", other.text);
}

#[test]
fn a_server_needs_a_key_or_an_address() {
    let told = Told::new();
    let why = |model: &str, env: &[(&str, &str)]| {
        let text = format!("agents: [{{ id: a, prompt: x }}]\nmodel: {model}\n");
        let file = AgentFile::read(&told.file("a.yaml", &text)).expect("a file");
        let env: std::collections::BTreeMap<_, _> = env.iter().copied().collect();
        file.provider(|name| env.get(name).map(|value| (*value).to_owned()))
            .map(drop)
            .map_err(|e| e.to_string())
    };
    assert!(why("openai", &[]).expect_err("no key").starts_with("OPENAI_API_KEY"));
    assert!(why("openaiCompatible", &[]).expect_err("no address").starts_with("OPENAI_BASE_URL"));
    assert_eq!(why("openai", &[("OPENAI_API_KEY", "sk-test")]), Ok(()));
    assert_eq!(why("openaiCompatible", &[("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]), Ok(()));
}

#[tokio::test]
async fn a_conversation_is_had_line_by_line() {
    let lines = ["Hello", "", "How much is the green tea?", "I want a person", "Hello again"];
    let mut told = Vec::new();
    let say = |line: &str| {
        told.push(line.to_owned());
        Ok(())
    };
    chat::chat(&sample(), lines.into_iter().map(|line| Ok(line.to_owned())), say).await.expect("a chat");
    let told = told.join("\n");
    for expected in [
        "> Welcome to the tea house!",
        r#"(ragSearch {"query":"How much is the green tea?"})"#,
        "> Green tea is 12 reais",
        "(the agents' part has ended: transferToHuman)",
    ] {
        assert!(told.contains(expected), "{expected} not in\n{told}");
    }
    assert_eq!(
        told.matches("> Welcome to the tea house!").count(),
        2,
        "another customer begins anew: {told}"
    );
}
