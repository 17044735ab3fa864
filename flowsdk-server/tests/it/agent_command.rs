//! Commands over files of AI agents, as their authors run them.

use std::path::Path;
use std::process::Command;

use crate::harness::process::{command, run};

fn agent(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command();
    command.current_dir(folder).arg("agent").args(arguments);
    command
}

/// The exit code tells an agent that does not do what is expected from a file that cannot be used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exit_code_says_what_became_of_a_test() {
    let dir = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/agents");
    for name in ["tea.json", "tea.script.json", "tea.flow.json", "tea.test.yaml"] {
        std::fs::copy(examples.join(name), dir.path().join(name)).unwrap();
    }
    let sample = std::fs::read_to_string(dir.path().join("tea.test.yaml")).unwrap();
    std::fs::write(dir.path().join("dear.yaml"), sample.replace("12 reais", "13 reais")).unwrap();
    std::fs::write(dir.path().join("odd.yaml"), sample.replace("customer: bye", "custumer: bye")).unwrap();
    for (arguments, code, expected) in [
        (
            &["test", "tea.test.yaml", "--junit", "report.xml", "--record", "kept.json"][..],
            0,
            "4 passed, 0 failed",
        ),
        (&["test", "tea.test.yaml", "--replay", "kept.json"], 0, "4 passed, 0 failed"),
        (&["test", "dear.yaml"], 1, "turn 2: contains: expected \"13 reais\""),
        (&["test", "odd.yaml"], 2, "odd.yaml: "),
        (&["test", "gone.yaml"], 2, "gone.yaml: cannot be read"),
    ] {
        let (status, out, err) = run(agent(dir.path(), arguments)).await;
        let said = out + &err;
        assert!(status.code() == Some(code) && said.contains(expected), "{arguments:?}: {status} {said}");
    }
    let report = std::fs::read_to_string(dir.path().join("report.xml")).unwrap();
    assert!(report.contains(r#"<testsuites tests="4" failures="0""#), "{report}");
}
