//! Commands over files of flows, as their authors run them.

use std::path::Path;

use crate::harness::process::{command, run};

async fn flow(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = command();
    command.current_dir(folder).arg("flow").args(arguments);
    let (status, out, err) = run(command).await;
    (status.success(), out + &err)
}

/// A script is run by the engine of the server, in a process of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_flow_is_checked_and_tested_with_its_script() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let (ok, said) = flow(folder, &["new", "bot.json"]).await;
    assert!(ok && said.contains("flow test bot.test.json"), "{said}");
    assert_eq!(
        flow(folder, &["check", "bot.json"]).await,
        (true, "bot.json: 0 errors, 0 warnings\n".to_owned())
    );
    let (ok, said) = flow(folder, &["test", "bot.test.json", "--trace"]).await;
    assert!(ok && said.contains("    sends \"HELLO, ANA!\"\n"), "{said}");

    let script = |text: &str| {
        let file = folder.join("bot.json");
        let definition = std::fs::read_to_string(&file).unwrap();
        let mut definition: serde_json::Value = serde_json::from_str(&definition).unwrap();
        definition["blocks"][2]["onEnter"][0]["script"] = text.into();
        std::fs::write(file, definition.to_string()).unwrap();
    };
    script("const name = variables.name\nreturn name.shout()");
    assert!(flow(folder, &["check", "bot.json"]).await.0, "it is JavaScript");
    let (ok, said) = flow(folder, &["test", "bot.test.json"]).await;
    assert!(!ok && said.contains("step 4 (tap): messages: expected "), "{said}");
    assert!(said.contains("executeScript has failed with script_error: line 2, column "), "{said}");
    script("return variables.name.toUpperCase(");
    let (ok, said) = flow(folder, &["check", "bot.json"]).await;
    assert!(!ok && said.contains("error bad_script in `greeting` at /blocks/2/onEnter/0/script: "), "{said}");
    assert!(said.contains("line 1, column 35: unexpected end of the script"), "{said}");
    let (ok, said) = flow(folder, &["new", "bot.json"]).await;
    assert!(!ok && said.contains("bot.json is there already"), "{said}");
}
