//! Commands of operators: accounts, configuration, restoration.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::process::{command, ended};
use crate::harness::{Api, Server, Setup, everywhere};

everywhere!(what_stands_in_the_way_of_a_start);

fn of_folder(data: &Path, arguments: &[&str]) -> Command {
    let mut command = command();
    command.args(arguments).arg("--data").arg(data);
    command
}

/// Runs a command with a line on its standard input.
fn told(mut command: Command, line: &str) -> (bool, String) {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let written = writeln!(child.stdin.take().unwrap(), "{line}");
    // A command that refuses its arguments ends without reading.
    assert!(
        written.as_ref().map_or_else(|error| error.kind() == ErrorKind::BrokenPipe, |()| true),
        "{written:?}"
    );
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.success(), said)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn administrators_are_made_and_get_other_passwords() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let none = ended(of_folder(&data, &["create-admin", "ana@example.com"])).await;
    assert!(!none.0 && none.1.contains("there is no data folder"), "{}", none.1);
    assert!(!data.exists(), "nothing is made");
    let demo = |name: &'static str| {
        let command = of_folder(&data, &["demo", "--listen", "127.0.0.1:0", "--json", "--lang", "pt"]);
        Server::start(command, dir.path(), name)
    };
    let server = demo("first").await;
    let taken = ended(of_folder(&data, &["create-admin", "ana@example.com"])).await;
    assert!(!taken.0 && taken.1.contains("stop the server first"), "{}", taken.1);
    assert!(server.stop().await.0.success());

    let (ok, said) = ended(of_folder(&data, &["create-admin", "Ana@Example.com"])).await;
    assert!(ok, "{said}");
    let (first, password) = said.trim_end().split_once("\npassword (shown once): ").expect(&said);
    assert_eq!(first, "ana@example.com is an administrator");
    let (ok, said) = ended(of_folder(&data, &["create-admin", "ana@example.com"])).await;
    assert!(!ok && said.contains("there is a user ana@example.com already"), "{said}");
    for (arguments, line, expected) in [
        (
            ["reset-password", "bob@example.com", "--password-stdin"],
            "long enough",
            "there is no user bob@example.com",
        ),
        (["reset-password", "ana@example.com", "--password-stdin"], "short", "at least 8 characters"),
        (["reset-password", "ana", "--password-stdin"], "long enough", "`ana` is not an e-mail address"),
    ] {
        let (ok, said) = told(of_folder(&data, &arguments), line);
        assert!(!ok && said.contains(expected), "{said}");
    }

    let server = demo("second").await;
    let anonymous = Api::anonymous(&server);
    let login = |password: &str| json!({ "email": "ana@example.com", "password": password });
    let session = anonymous.post("/auth/login", &login(password)).await.ok(200);
    assert!(server.stop().await.0.success());
    let reset = of_folder(&data, &["reset-password", "ana@example.com", "--password-stdin"]);
    let (ok, said) = told(reset, "another password");
    assert!(ok, "{said}");
    assert_eq!(said, "ana@example.com has another password, and every session of theirs has ended\n");

    let server = demo("third").await;
    let anonymous = Api::anonymous(&server);
    let old = anonymous.with(session["accessToken"].as_str().unwrap());
    assert_eq!(old.get("/auth/me").await.status, 401, "the session has ended");
    anonymous.post("/auth/login", &login(password)).await.refused(
        401,
        "invalid_credentials",
        "Credenciais inválidas",
    );
    let token = anonymous.post("/auth/login", &login("another password")).await.ok(200);
    let ana = anonymous.with(token["accessToken"].as_str().unwrap());
    let log = ana.get("/audit-logs?entityType=USER").await.ok(200);
    let of_ana = |record: &&serde_json::Value| record["entityId"] == token["user"]["id"];
    let actions: Vec<_> =
        log["items"].as_array().unwrap().iter().filter(of_ana).map(|record| &record["action"]).collect();
    assert_eq!(actions, ["PASSWORD_CHANGE", "CREATE"]);
    assert!(server.stop().await.0.success());
}

async fn what_stands_in_the_way_of_a_start(setup: Setup) {
    let check = |changes: &[(&str, &str)]| {
        let mut command = setup.command_of("check-config");
        command.envs(changes.iter().copied());
        ended(command)
    };
    // The first process notes the settings that all have in common.
    assert!(setup.start().await.stop().await.0.success());
    let (ok, said) = check(&[]).await;
    assert!(ok, "{said}");
    assert!(said.contains("configuration: no problem") && said.contains("its schema is current"), "{said}");
    let (ok, said) = check(&[("LISTEN_ADDR", "here"), ("BCRYPT_COST", "99")]).await;
    assert!(!ok, "{said}");
    for expected in ["LISTEN_ADDR must be", "BCRYPT_COST must be", "its schema is current"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    for url in ["sqlite:/nowhere/at/all.db", "postgres://127.0.0.1:1/x"] {
        let (ok, said) = check(&[("DATABASE_URL", url), ("REDIS_URL", "")]).await;
        assert!(!ok && said.contains("database: "), "{said}");
    }
    let other = "fedcba9876543210fedcba9876543210";
    let (ok, said) = check(&[("CRYPTO_SECRET", other)]).await;
    assert!(!ok && said.contains("settings in common: CRYPTO_SECRET differ"), "{said}");
    let (ok, said) = check(&[("REDIS_URL", "redis://127.0.0.1:1")]).await;
    assert!(!ok && said.contains("redis: "), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shells_complete_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let mut command = command();
        command.args(["completions", shell]);
        let (ok, said) = ended(command).await;
        assert!(ok && said.contains("check-config") && said.contains("flowsdk-server"), "{shell}: {said}");
        assert!(!said.contains("script-worker"), "{shell}: {said}");
    }
}
