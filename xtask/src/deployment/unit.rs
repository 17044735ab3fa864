//! The systemd unit and the configurations of the proxies.

use std::path::Path;

use super::{CONFIGURATION, documents, is_variable, read, variables};

const UNIT: &str = "deploy/flowsdk.service";
const SAMPLES: [&str; 3] = [UNIT, "deploy/Caddyfile", "deploy/nginx.conf"];

/// The value of a directive, such as `ExecStart`.
fn directive<'a>(unit: &'a str, name: &str) -> Option<&'a str> {
    unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// The default of a variable: the second column of its row.
fn default_of<'a>(page: &'a str, variable: &str) -> Option<&'a str> {
    let row = page.lines().find_map(|line| line.strip_prefix(&format!("| `{variable}` |")))?;
    row.split('`').nth(1)
}

fn seconds(length: &str) -> Option<u32> {
    length.strip_suffix('s')?.parse().ok()
}

/// The words that look like variables of the server: address families of systemd do not count.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| is_variable(word) && word.contains('_') && !word.starts_with("AF_"))
}

#[test]
fn samples_name_only_variables_that_exist() {
    let page = read(CONFIGURATION);
    let known = variables(&page);
    for sample in SAMPLES {
        let text = read(sample);
        let unknown: Vec<&str> = named(&text).filter(|word| !known.contains(word)).collect();
        assert_eq!(unknown, Vec::<&str>::new(), "{sample}");
    }
    let words: Vec<&str> = named("# Set TRUSTED_PROXIES=1; AF_INET and LTD are no variables").collect();
    assert_eq!(words, ["TRUSTED_PROXIES"]);
}

#[test]
fn the_unit_starts_a_command_of_the_server() {
    let unit = read(UNIT);
    let line = directive(&unit, "ExecStart").expect("ExecStart");
    let (program, command) = line.split_once(' ').expect("a program and its command");
    assert_eq!(Path::new(program).file_name().and_then(|name| name.to_str()), Some("flowsdk-server"));
    assert!(documents(&read(CONFIGURATION), command), "{command} is not documented");
}

#[test]
fn systemd_waits_longer_than_the_server_takes_to_stop() {
    let (unit, page) = (read(UNIT), read(CONFIGURATION));
    let systemd = directive(&unit, "TimeoutStopSec").and_then(seconds).expect("TimeoutStopSec");
    let server = default_of(&page, "SHUTDOWN_TIMEOUT").and_then(seconds).expect("SHUTDOWN_TIMEOUT");
    assert!(systemd > server, "{systemd} s of systemd, {server} s of the server");
}
