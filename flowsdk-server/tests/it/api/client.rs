//! The clients that are generated from the OpenAPI document (`clients/`): generated anew, checked strictly, and run against
//! a server.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::api::ADMIN;
use crate::harness::{Server, Setup, everywhere};

everywhere!(typescript, python);

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients")
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json")
}

/// Copies the sources, so that both set-ups may generate at once.
fn copy(from: &Path, to: &Path, names: &[&str]) {
    for name in names {
        let (from, to) = (from.join(name), to.join(name));
        if from.is_dir() {
            std::fs::create_dir_all(&to).unwrap();
            let entries = std::fs::read_dir(&from).unwrap().map(|entry| entry.unwrap().file_name());
            let files: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
            copy(&from, &to, &files.iter().map(String::as_str).collect::<Vec<_>>());
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// Runs a program with the address and the administrator of the server; it must succeed.
async fn run(mut step: Command, server: &Server, setup: &Setup) {
    step.env("SERVER_URL", format!("http://{}", server.addr))
        .env("ADMIN_EMAIL", ADMIN)
        .env("ADMIN_PASSWORD", setup.admin_password());
    let (output, step) = tokio::task::spawn_blocking(move || (step.output().unwrap(), step)).await.unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{step:?}\n{}{}", said(&output.stdout), said(&output.stderr));
}

async fn typescript(setup: Setup) {
    let folder = clients().join("typescript");
    if std::env::var("FLOWSDK_TEST_NODE").as_deref() != Ok("1") || !folder.join("node_modules").exists() {
        eprintln!("SKIPPED: the TypeScript client needs Node and the packages of clients/typescript");
        return;
    }
    let server = setup.start().await;
    // Inside of the folder, where the packages are found.
    let place = tempfile::Builder::new().prefix("dist-").tempdir_in(&folder).unwrap();
    let place = place.path();
    std::fs::create_dir(place.join("src")).unwrap();
    copy(&folder, place, &["src/index.ts", "test", "tsconfig.json"]);
    let bin = |name: &str| Command::new(folder.join("node_modules/.bin").join(name));
    let mut generate = bin("openapi-typescript");
    let api = place.join("src/api.ts");
    generate.arg(document()).arg("--output").arg(api).arg("--default-non-nullable=false");
    run(generate, &server, &setup).await;
    let mut compile = bin("tsc");
    compile.arg("--project").arg(place);
    run(compile, &server, &setup).await;
    for script in ["walk.js", "flow.js"] {
        let mut node = Command::new("node");
        node.arg(place.join("dist/test").join(script));
        run(node, &server, &setup).await;
    }
}

async fn python(setup: Setup) {
    let Some(programs) = std::env::var_os("FLOWSDK_TEST_PYTHON").map(PathBuf::from) else {
        eprintln!(
            "SKIPPED: the Python client needs its generator; set FLOWSDK_TEST_PYTHON to the folder of its program"
        );
        return;
    };
    let server = setup.start().await;
    let folder = clients().join("python");
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let program = |name: &str, arguments: &[&OsStr]| {
        let mut command = Command::new(programs.join(name));
        command.args(arguments).current_dir(place);
        command
    };
    run(program("python", &[folder.join("generate.py").as_os_str(), place.as_os_str()]), &server, &setup)
        .await;
    copy(&folder, place, &["tests"]);
    // The generated sources are not strict in all places; what uses them is.
    let check = ["--strict", "--follow-imports=silent", "tests/flow.py"].map(OsStr::new);
    run(program("mypy", &check), &server, &setup).await;
    let mut flow = program("python", &["tests/flow.py"].map(OsStr::new));
    flow.env("PYTHONPATH", place);
    run(flow, &server, &setup).await;
}
