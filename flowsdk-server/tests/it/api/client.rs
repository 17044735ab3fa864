//! A client that is generated from the OpenAPI document.

use std::path::Path;
use std::process::Command;

use crate::harness::api::ADMIN;
use crate::harness::{Setup, everywhere};

everywhere!(walks);

async fn walks(setup: Setup) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api/client");
    if std::env::var("FLOWSDK_TEST_NODE").as_deref() != Ok("1") || !folder.join("node_modules").exists() {
        eprintln!("SKIPPED: the generated client needs Node and the packages of tests/api/client");
        return;
    }
    let server = setup.start().await;
    // Compiled apart for each set-up: both may do it at once.
    let generated = tempfile::tempdir_in(&folder).unwrap();
    let api = generated.path().join("generated/api.ts");
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    std::fs::copy(folder.join("walk.ts"), generated.path().join("walk.ts")).unwrap();
    let config = std::fs::read_to_string(folder.join("tsconfig.json")).unwrap();
    std::fs::write(generated.path().join("tsconfig.json"), config).unwrap();
    let bin = |name: &str| Command::new(folder.join("node_modules/.bin").join(name));
    let mut generate = bin("openapi-typescript");
    generate.arg(document).arg("--output").arg(&api).arg("--default-non-nullable=false");
    let mut compile = bin("tsc");
    compile.arg("--project").arg(generated.path());
    let mut walk = Command::new("node");
    walk.arg(generated.path().join("compiled/walk.js"))
        .env("SERVER_URL", format!("http://{}", server.addr))
        .env("ADMIN_EMAIL", ADMIN)
        .env("ADMIN_PASSWORD", setup.admin_password());
    for mut step in [generate, compile, walk] {
        let step = tokio::task::spawn_blocking(move || (step.output().unwrap(), step));
        let (output, step) = step.await.unwrap();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{step:?}\n{}{}", said(&output.stdout), said(&output.stderr));
    }
}
