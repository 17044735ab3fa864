//! The start race: from the start of the program to the first answer, memory at rest, size of the binary.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use flowsdk_crypto::SESSION_KEY_COST;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Common;
use crate::load::{self, Known, Visitor};
use crate::machine::{self, Cores};
use crate::process::Server;
use crate::report::{self, Spread, Table};

/// How long the program rests before its memory is looked at.
const REST: Duration = Duration::from_secs(5);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    /// How often everything is repeated
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

/// The line that the program prints when it is ready.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    url: String,
    channel_id: String,
}

/// One start. Times are milliseconds from the start of the program.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    ready_ms: f64,
    /// When the visitor was in.
    entered_ms: f64,
    /// When the first answer was there.
    answered_ms: f64,
    /// Between the request to enter and `auth_ok`: mostly bcrypt.
    entering_ms: f64,
    /// Memory at rest; only after a cold start.
    memory: Option<Memory>,
}

/// Resident memory.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Memory {
    resident_kib: u64,
    /// The part of it that is of no file.
    anonymous_kib: u64,
}

/// Runs the race.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server()?;
    machine::pin(cores.load)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut cold, mut warm, mut back) = (Vec::new(), Vec::new(), Vec::new());
    let mut bcrypt = Vec::new();
    for round in 0..options.rounds {
        let folder = tempfile::tempdir()?;
        let start = |known: Option<&Known>, rest| -> Result<(Run, Option<Known>)> {
            runtime.block_on(start_once(&server, folder.path(), cores, known, rest))
        };
        let (run, known) = start(None, true).context("cold start")?;
        cold.push(run);
        warm.push(start(None, false).context("warm start")?.0);
        if let Some(known) = known {
            back.push(start(Some(&known), false).context("warm start of a known visitor")?.0);
        }
        bcrypt.push(bcrypt_ms(cores)?);
        eprintln!("round {round}: {run:?}");
    }
    let results =
        Results { cold, warm, back, bcrypt: Spread::of(bcrypt), binary_mib: machine::mebibytes(&server)? };
    let section = section(options, &results);
    if options.common.json {
        println!("{}", serde_json::to_string(&results)?);
    } else {
        println!("{section}");
    }
    if options.common.write {
        report::write("start", &section)?;
    }
    Ok(())
}

async fn start_once(
    server: &Path,
    folder: &Path,
    cores: Cores,
    known: Option<&Known>,
    rest: bool,
) -> Result<(Run, Option<Known>)> {
    let log = folder.join("server.log");
    let data: PathBuf = folder.join("data");
    let began = Instant::now();
    let since = || began.elapsed().as_secs_f64() * 1e3;
    let mut command = Command::new(server);
    command.args(["demo", "--listen", "127.0.0.1:0", "--json", "--data"]).arg(&data).stdout(Stdio::piped());
    let mut running = Server::start(&mut command, cores, &log)?;
    let mut line = String::new();
    let mut output = BufReader::new(running.output()?);
    while !line.trim_start().starts_with('{') {
        line.clear();
        let length = output.read_line(&mut line)?;
        anyhow::ensure!(length > 0, "it ended: {}", std::fs::read_to_string(&log)?);
    }
    let ready_ms = since();
    let ready: Ready = serde_json::from_str(&line).context("what the program prints")?;
    let address: SocketAddr = ready.url.trim_start_matches("http://").trim_end_matches('/').parse()?;
    let entrance = load::entrance(address, "/webchat/socket.io/");
    let auth = match known {
        None => json!({ "channelId": ready.channel_id }).to_string(),
        Some(known) => known.auth(&ready.channel_id),
    };
    let (mut visitor, in_with) = Visitor::enter_and_read(&entrance, &auth, true).await?;
    let entered_ms = since();
    visitor.say("oi");
    visitor.flush().await?;
    let answer = async {
        while visitor.take_answer().is_none() {
            visitor.listen().await?;
        }
        Ok::<_, anyhow::Error>(())
    };
    tokio::time::timeout(PATIENCE, answer).await.context("no answer")??;
    let answered_ms = since();
    let memory = if rest {
        tokio::time::sleep(REST).await;
        let pid = running.pid();
        Some(Memory {
            resident_kib: machine::resident_kib(pid)?,
            anonymous_kib: machine::anonymous_kib(pid)?,
        })
    } else {
        None
    };
    drop(visitor);
    running.stop()?;
    let run = Run { ready_ms, entered_ms, answered_ms, entering_ms: entered_ms - ready_ms, memory };
    Ok((run, Known::of(&in_with)))
}

/// One hash of a session key on the server's core.
fn bcrypt_ms(cores: Cores) -> Result<f64> {
    machine::pin(cores.server)?;
    let began = Instant::now();
    bcrypt::hash("a session key of forty-eight characters, or so..", SESSION_KEY_COST)?;
    let took = began.elapsed();
    machine::pin(cores.load)?;
    Ok(took.as_secs_f64() * 1e3)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Results {
    cold: Vec<Run>,
    warm: Vec<Run>,
    /// Warm starts of a visitor who was there before.
    back: Vec<Run>,
    bcrypt: Option<Spread>,
    binary_mib: f64,
}

fn section(options: &Options, results: &Results) -> String {
    let mut text = String::from("## Start and size\n\n");
    text.push_str(&report::circumstances(&format!("cargo xtask bench start --rounds {}", options.rounds)));
    text.push_str(WORK);
    let mut table = Table::new(&[
        "ms from the start of the program",
        "ready",
        "visitor is in",
        "first answer",
        "of it entering",
    ]);
    let rows = [
        ("empty folder, new visitor", &results.cold),
        ("existing folder, new visitor", &results.warm),
        ("existing folder, known visitor", &results.back),
    ];
    for (name, runs) in rows {
        let cell = |of: fn(&Run) -> f64| {
            Spread::of(runs.iter().map(of)).map_or("-".to_owned(), |spread| spread.to_string())
        };
        table.row([
            name.to_owned(),
            cell(|run| run.ready_ms),
            cell(|run| run.entered_ms),
            cell(|run| run.answered_ms),
            cell(|run| run.entering_ms),
        ]);
    }
    text.push_str(&table.to_string());
    let memory = |kib: fn(&Memory) -> u64| {
        Spread::of(
            results.cold.iter().filter_map(|run| run.memory.as_ref()).map(|at| kib(at) as f64 / 1024.0),
        )
    };
    let resident = memory(|at| at.resident_kib);
    let say = |spread: Option<Spread>| spread.map_or("-".to_owned(), |spread| spread.to_string());
    text.push_str(&format!(
        "\nOne bcrypt of a session key alone: {} ms. Resident after 5 s at rest: {} MiB, of it {} MiB of no file. Binary: \
         {:.1} MiB.\n\nGoals:\n\n",
        say(results.bcrypt),
        say(resident),
        say(memory(|at| at.anonymous_kib)),
        results.binary_mib,
    ));
    let answered = Spread::of(results.cold.iter().map(|run| run.answered_ms)).map(|spread| spread.median);
    text.push_str(&report::goal("Cold start to the first answer at most 150 ms", answered, |ms| ms <= 150.0));
    let resident = resident.map(|spread| spread.median);
    text.push_str(&report::goal("At most 40 MiB resident at rest", resident, |mib| mib <= 40.0));
    text.push_str(&report::goal("One binary of at most 40 MiB", Some(results.binary_mib), |mib| mib <= 40.0));
    text
}

const WORK: &str = "
`flowsdk-server demo` on one core, until a visitor who has connected over the websocket has the first answer of the flow. A new
visitor costs one bcrypt hash of cost 10; one who comes back is checked by a digest. The resident memory counts pages of the
program's file as the kernel maps them: up to 4 MiB more if the file is a copy of the one that was linked.

";
