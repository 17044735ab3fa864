//! schemathesis over the OpenAPI document: no 5xx, no undocumented status, no body that fits no schema.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Api, Setup, everywhere};

everywhere!(finds_nothing);

/// Operations that may change the caller, after which everything else is refused to them.
const ON_CALLERS: [&str; 3] = ["putUser", "patchUser", "deleteUser"];

async fn finds_nothing(setup: Setup) {
    let Some(programs) = std::env::var_os("FLOWSDK_TEST_PYTHON") else {
        eprintln!("SKIPPED: no schemathesis; set FLOWSDK_TEST_PYTHON to the folder of its program");
        return;
    };
    let program = Path::new(&programs).join("schemathesis");
    let setup = setup
        .with("API_REQUESTS_PER_SECOND", "0")
        .with("LOGIN_FAILURES_PER_MINUTE", "0")
        .with("LOGIN_FAILURES_PER_ADDRESS", "0")
        .with("RECOVERIES_PER_EMAIL", "0");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let document = setup.dir.path().join("openapi.json");
    std::fs::write(&document, without_definitions(admin.get("/openapi.json").await.ok(200)).to_string())
        .unwrap();
    // A logout ends the session that everything else needs.
    let all: Vec<_> =
        ["logout"].iter().chain(&ON_CALLERS).map(|id| ("--exclude-operation-id", *id)).collect();
    let rest: Vec<_> = ON_CALLERS.iter().map(|id| ("--include-operation-id", *id)).collect();
    for operations in [all, rest] {
        // Who is refused everything finds nothing.
        admin.get("/auth/me").await.ok(200);
        let to = (document.as_path(), server.addr.to_string());
        let mut fuzz = fuzz(program.as_os_str(), to, admin.token.as_deref().unwrap());
        fuzz.args(operations.iter().flat_map(|(choice, id)| [*choice, *id])).current_dir(setup.dir.path());
        let output = tokio::task::spawn_blocking(move || fuzz.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{}{}", report(&output.stdout), report(&output.stderr));
    }
    let log = server.log();
    let bad = log.lines().find(|line| line.contains("panicked"));
    assert_eq!(bad, None);
    assert!(server.stop().await.0.success());
}

/// Returns the document with definitions of flows as any objects. Their parts make thousands of cases, which fuzz targets and
/// property tests of the engine have without a server.
fn without_definitions(mut document: Value) -> Value {
    for name in ["FlowDraft", "FlowDefinition"] {
        let schema = &mut document["components"]["schemas"][name];
        assert!(schema.is_object(), "{name}");
        *schema = json!({ "type": "object", "additionalProperties": true });
    }
    document
}

/// A run over a document against the server at an address, of what is still to be chosen.
fn fuzz(program: &OsStr, (document, addr): (&Path, String), token: &str) -> Command {
    let chosen = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let examples = chosen("FLOWSDK_TEST_FUZZ_EXAMPLES", "15");
    let seed = chosen("FLOWSDK_TEST_FUZZ_SEED", "20261120");
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/schemathesis.toml");
    let mut fuzz = Command::new(program);
    fuzz.args(["--config-file", settings, "run"])
        .arg(document)
        .args(["--url", &format!("http://{addr}/api"), "--no-color"])
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", &examples, "--seed", &seed]);
    fuzz
}

/// What was said, without the lines in which it shows whole sources.
fn report(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    said.lines().filter(|line| line.len() < 2_000).flat_map(|line| [line, "\n"]).collect()
}
