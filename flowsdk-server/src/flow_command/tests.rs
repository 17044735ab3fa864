use std::path::Path;

use flowsdk_outside::script::NoScripts;

use super::*;

/// Runs a command that needs no worker process.
fn run(command: &FlowCommand) -> Result<Printed, BoxError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(super::run(command, Arc::new(NoScripts), |_| Ok(())))
}

fn examples(end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows");
    let files = std::fs::read_dir(folder).expect("the examples").map(|file| file.expect("a file").path());
    let is_test = |path: &PathBuf| path.to_string_lossy().ends_with(".test.json");
    let mut files: Vec<_> = files.filter(|path| is_test(path) == (end == "test")).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}

#[test]
fn the_worked_examples_are_flawless_and_pass_their_tests() {
    let definitions = examples("flow");
    assert!(definitions.len() >= 3);
    let checked = run(&FlowCommand::Check { files: definitions.clone() }).expect("read");
    assert!(checked.ok && !checked.text.contains("warning "), "{}", checked.text);
    let tested = run(&FlowCommand::Test { files: examples("test"), trace: None }).expect("read");
    assert!(tested.ok && tested.text.lines().count() >= 6, "{}", tested.text);
    for file in definitions {
        for mermaid in [true, false] {
            assert!(run(&FlowCommand::Graph { file: file.clone(), mermaid }).expect("drawn").ok);
        }
    }
}

#[test]
fn files_are_read_as_the_api_reads_bodies() {
    let folder = tempfile::tempdir().expect("a folder");
    let checked = |content: &[u8]| {
        let file = folder.path().join("flow.json");
        std::fs::write(&file, content).expect("written");
        run(&FlowCommand::Check { files: vec![file] }).expect("checked")
    };
    let flow = |more: &str, end: &str| {
        format!(
            r#"{{ "schemaVersion": 1, "startBlockId": "a", {more}
            "blocks": [{{ "id": "a", "type": "content", "defaultOutput": {end} }}] }}"#
        )
    };
    let end = r#"{ "end": true }"#;
    let twice = checked(flow(r#""startBlockId": "b","#, end).as_bytes());
    assert!(!twice.ok && twice.text.contains("flow.json: startBlockId: Repeated field"), "{}", twice.text);
    let below = checked(flow("", r#"{ "end": true, "end": true }"#).as_bytes());
    assert!(below.text.contains("blocks[0].defaultOutput.end: Repeated field"), "{}", below.text);
    let marked = checked(&[b"\xef\xbb\xbf", flow("", end).as_bytes()].concat());
    assert!(marked.ok && marked.text.contains("flow.json: 0 errors, 0 warnings"), "{}", marked.text);
    let always =
        r#"{ "blockId": "gone" }, "outputConditions": [{ "conditions": [], "target": { "end": true } }]"#;
    let one = checked(flow("", always).as_bytes());
    assert!(one.text.contains("flow.json: 1 error, 1 warning\n"), "{}", one.text);
}

#[test]
fn what_is_wrong_with_a_test_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(at(name), text).expect("written");
    let flow = r#"{ "schemaVersion": 1, "startBlockId": "a", "blocks": [
        { "id": "a", "type": "content", "defaultOutput": { "flowId": "gone" } }] }"#;
    write("flow.json", flow);
    let test = |test: &str| format!(r#"{{ "flow": "flow.json", "tests": [ {{}}, {test} ] }}"#);
    write("good.json", r#"{ "flow": "flow.json", "tests": [{}] }"#);
    let files = vec![at("nowhere.json"), at("flow.json")];
    let checked = run(&FlowCommand::Check { files }).expect("checked");
    assert!(!checked.ok && checked.text.contains("nowhere.json: cannot be read"), "{}", checked.text);
    assert!(checked.text.contains("flow.json: 0 errors"), "{}", checked.text);
    for (content, expected) in [
        ("{\n  \"flow\": 7,", "line 2"),
        (r#"{ "tests": [] }"#, "missing field `flow`"),
        (r#"{ "flow": "flow.json", "tests": [] }"#, "t.json: tests: expected at least one"),
        (r#"{ "flow": "none.json", "tests": [{}] }"#, "t.json: flow: "),
        (r#"{ "flow": "none.json", "tests": [{}] }"#, "none.json: cannot be read: "),
        (
            r#"{ "flow": "flow.json", "flows": { "a b": "flow.json" }, "tests": [{}] }"#,
            "flows.a b: expected the id of a flow",
        ),
        (
            &test(r#"{ "steps": [{ "say": "a" }, { "sya": "b" }] }"#),
            "tests[1].steps[1]: expected one of say, ",
        ),
        (&test(r#"{ "steps": [{ "say": "a", "expects": {} }] }"#), "found `expects`, `say`"),
        (&test(r#"{ "steps": [{}] }"#), "found none"),
        (&test(r#"{ "steps": [{ "wait": "a" }] }"#), "tests[1].steps[0]"),
        (&test(r#"{ "now": "noon" }"#), "tests[1].now: expected a moment"),
        (&test(r#"{ "tz": "Mars" }"#), "tests[1].tz: expected an IANA time zone"),
    ] {
        write("t.json", content);
        let files = vec![at("t.json"), at("good.json")];
        let Printed { text, ok } = run(&FlowCommand::Test { files, trace: None }).expect("played");
        assert!(!ok && text.contains("t.json: ") && text.contains(expected), "{expected} not in {text}");
        assert!(text.contains("good.json: test 1 ... ok"), "the other file is played: {text}");
    }
    for (tests, expected) in [("flow.json", "write a file such as "), ("bot.json", "run `flow test ")] {
        write("bot.json", flow);
        write("bot.test.json", "{}");
        let Printed { text, ok } =
            run(&FlowCommand::Test { files: vec![at(tests)], trace: None }).expect("looked at");
        assert!(
            !ok && text.contains("this is the definition of a flow") && text.contains(expected),
            "{text}"
        );
    }
    write("t.json", &test(r#"{ "steps": [{ "say": "a", "expect": { "end": "ended" } }] }"#));
    let played = run(&FlowCommand::Test { files: vec![at("t.json")], trace: None }).expect("played");
    assert!(!played.ok);
    assert!(played.text.contains("froze with flow_not_found: flow `gone`"), "{}", played.text);
}

#[test]
fn a_trace_is_read_by_people_or_by_programs() {
    let files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/flows/orders.test.json")];
    let traced = |trace| {
        let printed = run(&FlowCommand::Test { files: files.clone(), trace: Some(trace) }).expect("played");
        assert!(printed.ok, "{}", printed.text);
        printed.text
    };
    let text = traced(TraceFormat::Text);
    for expected in [
        "  step 2: the contact says \"AB-1234\"\n",
        "    the answer is valid\n",
        "    requests GET https://",
        "    httpRequest has failed with http_timeout: as the test says\n",
        "    sets shopError = \"http_timeout\"\n",
        "    sends \"I cannot see the orders now.\"\n    ",
        "    ends: ended\n",
    ] {
        assert!(text.contains(expected), "{expected} not in {text}");
    }
    let json = traced(TraceFormat::Json);
    let step = json.lines().find_map(|line| line.strip_prefix("  say: ")).expect("a step");
    assert!(serde_json::from_str::<serde_json::Value>(step).expect("JSON")["trace"].is_array());
}

#[test]
fn a_new_flow_is_flawless_and_replaces_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("my bot.json");
    let made = run(&FlowCommand::New { file: file.clone() }).expect("made");
    assert!(made.text.contains("my bot.test.json"), "{}", made.text);
    let checked = run(&FlowCommand::Check { files: vec![file.clone()] }).expect("checked");
    assert!(checked.text.contains("0 errors, 0 warnings"), "{}", checked.text);
    let content = std::fs::read(&file).expect("there");
    let again = run(&FlowCommand::New { file: file.clone() }).expect_err("it is there").to_string();
    assert!(again.contains("is there already"), "{again}");
    assert_eq!(std::fs::read(&file).expect("there"), content);
}

#[test]
fn a_file_of_another_kind_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        path
    };
    let tests = file("a.test.json", r#"{ "flow": "a.json", "tests": [{ "steps": [] }] }"#);
    let empty = file("empty.json", " \n");
    let list = file("list.json", "[]");
    let checked = run(&FlowCommand::Check { files: vec![tests.clone(), empty, list] }).expect("checked");
    let hint = format!("this is a file of tests, not a definition: run `flow test {}`", tests.display());
    for expected in [&*hint, "empty.json: the file is empty", "invalid type: list, expected an object"] {
        assert!(checked.text.contains(expected), "{}", checked.text);
    }
    assert!(!checked.ok);
    let drawn = run(&FlowCommand::Graph { file: tests, mermaid: true }).expect_err("no flow");
    assert!(drawn.to_string().contains(&hint), "{drawn}");
    let odd = r#"{ "flow": "a.json", "tests": [{ "steps": [{ "tap": "yes" }] }] }"#;
    let played = run(&FlowCommand::Test { files: vec![file("odd.test.json", odd)], trace: None });
    let said = played.expect("played").text;
    assert!(said.contains("tests[0].steps[0]: ") && said.contains("expected an object"), "{said}");
    assert!(!said.contains("struct"), "{said}");
}
