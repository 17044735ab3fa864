//! The workflow of a release: what it asks of this program and of others exists.

use std::collections::{BTreeMap, BTreeSet};

use clap::CommandFactory as _;
use serde::Deserialize;

use super::read;
use crate::Cli;

const WORKFLOW: &str = ".github/workflows/release.yml";

#[derive(Deserialize)]
struct Workflow {
    permissions: BTreeMap<String, String>,
    jobs: BTreeMap<String, Job>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    needs: Vec<String>,
    permissions: Option<BTreeMap<String, String>>,
    strategy: Option<Strategy>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Strategy {
    matrix: Matrix,
}

#[derive(Deserialize)]
struct Matrix {
    #[serde(default)]
    runner: Vec<String>,
}

#[derive(Deserialize)]
struct Step {
    uses: Option<String>,
    run: Option<String>,
}

/// Returns what is wrong with a workflow, by the chores of this program.
fn faults(text: &str) -> Vec<String> {
    let workflow: Workflow = match serde_saphyr::from_str(text) {
        Ok(workflow) => workflow,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults = Vec::new();
    if !workflow.permissions.is_empty() {
        faults.push("every job has the permissions of the workflow".to_owned());
    }
    for (name, job) in &workflow.jobs {
        let unknown = job.needs.iter().filter(|needed| !workflow.jobs.contains_key(*needed));
        faults.extend(unknown.map(|needed| format!("{name}: needs {needed}, which is no job")));
        if job.permissions.is_none() {
            faults.push(format!("{name}: states no permissions"));
        }
        faults.extend(job.steps.iter().flat_map(faults_of).map(|fault| format!("{name}: {fault}")));
    }
    faults
}

fn faults_of(step: &Step) -> Vec<String> {
    let mut faults = Vec::new();
    if step.uses.is_some() == step.run.is_some() {
        faults.push("a step has either `uses` or `run`".to_owned());
    }
    if let Some(action) = step.uses.as_deref().filter(|action| !is_pinned(action)) {
        faults.push(format!("{action} names no version"));
    }
    let chores = step.run.iter().flat_map(|script| script.split("cargo xtask ").skip(1));
    let unknown = chores.filter_map(|rest| rest.split_whitespace().next()).filter(|chore| !is_chore(chore));
    faults.extend(unknown.map(|chore| format!("there is no chore `{chore}`")));
    faults
}

fn is_pinned(action: &str) -> bool {
    let version = action.split_once("@v").map(|(_, version)| version);
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_chore(name: &str) -> bool {
    Cli::command().find_subcommand(name).is_some()
}

#[test]
fn the_workflow_asks_for_what_exists() {
    assert_eq!(faults(&read(WORKFLOW)), Vec::<String>::new());
}

#[test]
fn archives_are_made_for_linux_and_macos() {
    let workflow: Workflow = serde_saphyr::from_str(&read(WORKFLOW)).expect("a workflow");
    let runners = &workflow.jobs["archives"].strategy.as_ref().expect("several runners").matrix.runner;
    let systems: BTreeSet<&str> = runners.iter().filter_map(|runner| runner.split('-').next()).collect();
    assert_eq!(systems, BTreeSet::from(["macos", "ubuntu"]));
}

#[test]
fn faults_are_found() {
    let text = read(WORKFLOW);
    for (right, wrong, fault) in [
        ("cargo xtask dist", "cargo xtask release", "archives: there is no chore `release`"),
        ("actions/checkout@v5", "actions/checkout@main", "archives: actions/checkout@main names no version"),
        ("needs: [archives, images]", "needs: [archives, image]", "release: needs image, which is no job"),
        (
            "permissions: {}",
            "permissions: { contents: write }",
            "every job has the permissions of the workflow",
        ),
    ] {
        let broken = text.replacen(right, wrong, 1);
        assert_ne!(broken, text, "{right}");
        assert_eq!(faults(&broken), [fault]);
    }
}
