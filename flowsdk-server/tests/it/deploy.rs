//! The sample files of `deploy`, read by the programs that they are for.

use std::path::{Path, PathBuf};
use std::process::Command;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(name)
}

/// Runs a check; says that it is skipped where its program is missing.
fn check(mut command: Command) {
    let Ok(output) = command.output() else {
        return eprintln!("SKIPPED: {:?} is not installed", command.get_program());
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn caddy_takes_its_file() {
    let mut caddy = Command::new("caddy");
    caddy.args(["validate", "--adapter", "caddyfile", "--config"]).arg(sample("Caddyfile"));
    check(caddy);
}

#[test]
fn nginx_takes_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(sample("nginx.conf")).unwrap();
    // The certificate is the operator's.
    let plain = text.lines().filter(|line| !line.contains("ssl_certificate"));
    let site = plain.collect::<Vec<_>>().join("\n").replace("listen 443 ssl;", "listen 127.0.0.1:65443;");
    std::fs::write(dir.path().join("site.conf"), site).unwrap();
    let folder = dir.path().display();
    let main = format!(
        "pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}} http {{ access_log off; include {folder}/site.conf; }}"
    );
    let path = dir.path().join("nginx.conf");
    std::fs::write(&path, main).unwrap();
    let mut nginx = Command::new("nginx");
    nginx.arg("-t").arg("-c").arg(path);
    check(nginx);
}

#[test]
fn systemd_takes_the_unit() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(sample("flowsdk.service")).unwrap();
    // It is not installed here.
    let unit = dir.path().join("flowsdk.service");
    std::fs::write(
        &unit,
        text.replace("/usr/local/bin/flowsdk-server", env!("CARGO_BIN_EXE_flowsdk-server")),
    )
    .unwrap();
    let mut systemd = Command::new("systemd-analyze");
    systemd.arg("verify").arg(unit);
    check(systemd);
}

/// A setting of the samples that the server does not know would do nothing.
#[test]
fn every_setting_of_the_samples_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let known = read("docs/configuration.md");
    let compose = read("compose.yaml");
    let of_server =
        compose.split("environment:\n").nth(1).and_then(|rest| rest.split("ports:").next()).unwrap();
    let settings = of_server.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let composed = settings.filter_map(|line| line.split_once(": ")).map(|(name, _)| name);
    let guide = read("docs/production.md");
    let listed = guide.split("<<ENV\n").nth(1).and_then(|rest| rest.split("\nENV\n").next()).unwrap();
    let names: Vec<&str> = composed
        .chain(listed.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name))
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(known.contains(&format!("`{name}`")), "{name}");
    }
}
