//! schemathesis over the OpenAPI document: no 5xx, no undocumented status, no body that fits no schema.

use std::process::Command;

use crate::harness::{Api, Setup, everywhere};

everywhere!(finds_nothing);

async fn finds_nothing(setup: Setup) {
    let Some(program) = std::env::var_os("FLOWSDK_TEST_SCHEMATHESIS") else {
        eprintln!("SKIPPED: no schemathesis; set FLOWSDK_TEST_SCHEMATHESIS");
        return;
    };
    let setup = setup
        .with("API_REQUESTS_PER_SECOND", "0")
        .with("LOGIN_FAILURES_PER_MINUTE", "0")
        .with("LOGIN_FAILURES_PER_ADDRESS", "0")
        .with("RECOVERIES_PER_EMAIL", "0");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let examples = std::env::var("FLOWSDK_TEST_FUZZ_EXAMPLES").unwrap_or_else(|_| "15".to_owned());
    let mut fuzz = Command::new(program);
    fuzz.arg("run")
        .arg(format!("http://{}/openapi.json", server.addr))
        .args(["--url", &format!("http://{}/api", server.addr)])
        .args(["--header", &format!("Authorization: Bearer {}", admin.token.as_deref().unwrap())])
        // A logout ends the session that everything else needs.
        .args(["--exclude-operation-id", "logout"])
        .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance"])
        .args(["--checks", "response_headers_conformance,response_schema_conformance"])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", &examples, "--seed", "20261120"])
        .args(["--workers", "2", "--request-timeout", "60", "--no-color", "--continue-on-failure"])
        .current_dir(setup.dir.path());
    let run = tokio::task::spawn_blocking(move || fuzz.output().unwrap());
    let output = run.await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let log = server.log();
    let bad = log.lines().find(|line| line.contains("panicked"));
    assert_eq!(bad, None);
    assert!(server.stop().await.0.success());
}
