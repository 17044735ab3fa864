//! `cargo xtask bench`: builds the server and races it.

use std::ffi::OsString;

use anyhow::Result;

use crate::{process, workspace};

/// The options of `flowsdk-benches` that name a server built before.
const SERVER: &str = "--server";

pub(crate) fn run(arguments: &[OsString]) -> Result<u8> {
    let prebuilt = arguments
        .iter()
        .any(|argument| argument.to_str().is_some_and(|text| text.split('=').next() == Some(SERVER)));
    if !prebuilt {
        process::must(workspace::cargo().args(["build", "--release", "-p", "flowsdk-server"]))?;
    }
    let mut race = workspace::cargo();
    race.args(["run", "--release", "--quiet", "-p", "flowsdk-benches", "--"]).args(arguments);
    process::run(&mut race)
}
