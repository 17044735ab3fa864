//! Checks whether the time of a refused login tells that an account exists.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::statistic::mann_whitney;
use crate::Common;
use crate::api::{email, ours};
use crate::http::{Connection, Request};
use crate::machine::{self, Cores};
use crate::process::{self, Server};
use crate::report::Spread;

/// Logins of each kind that are not counted.
const WARM_UP: u32 = 20;
/// Differences beyond so many standard deviations happen by chance once in 16,000 runs.
const SUSPICIOUS: f64 = 4.0;

/// The options of the check.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    /// Logins of each kind
    #[arg(long, default_value_t = 500)]
    logins: u32,
}

/// Refuses logins of somebody and of nobody in turns, and compares how long that took.
///
/// # Errors
/// The two can be told apart.
pub(crate) fn check(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let program = options.common.server()?;
    machine::pin(cores.load)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("server.log");
    let address = process::free_address()?;
    let database = format!("sqlite:{}", folder.path().join("race.db").display());
    let mut command = ours::command(&program, address, &database, None);
    let mut server = Server::start(command.stdout(Stdio::null()), cores, &log)?;
    let said = || std::fs::read_to_string(&log).unwrap_or_default();
    server.until(|| process::answers_ok(address, "/readyz")).with_context(said)?;
    let [known, unknown] = runtime.block_on(async {
        ours::make_members(address).await?;
        measure(&mut Connection::open(address).await?, options.logins).await
    })?;
    server.stop()?;

    let test = mann_whitney(&known, &unknown);
    let (known, unknown) =
        (Spread::of(known).context("no logins")?, Spread::of(unknown).context("no logins")?);
    if options.common.json {
        let result = json!({ "check": "login-timing", "logins": options.logins, "wrongPasswordMicros": known,
                             "unknownEmailMicros": unknown, "superiority": test.superiority, "z": test.z });
        println!("{result}");
    } else {
        println!("wrong password: {known} us, unknown e-mail: {unknown} us (median, least, greatest)");
        println!("Mann-Whitney: {:.3} of the pairs, z = {:.2}", test.superiority, test.z);
    }
    ensure!(test.z.abs() < SUSPICIOUS, "the time of a refused login tells that an account exists");
    Ok(())
}

/// Microseconds of refused logins: with a wrong password, and of an address that nobody has.
async fn measure(connection: &mut Connection, logins: u32) -> Result<[Vec<f64>; 2]> {
    let login = |email: &str| {
        let body = json!({ "email": email, "password": "Outra-senha-1234567" });
        Request::new("POST", "/auth/login", None, Some(&body))
    };
    // As long as the other, so that the lengths differ in nothing.
    let requests = [login(&email(0)), login(&email(0).replace("member", "nobody"))];
    let mut times = [Vec::new(), Vec::new()];
    let mut answers = [Value::Null, Value::Null];
    for number in 0..WARM_UP + logins {
        // A B B A, so that neither is always the second.
        for kind in if number % 2 == 0 { [0, 1] } else { [1, 0] } {
            let began = Instant::now();
            let status = connection.ask(&requests[kind]).await?;
            let took = began.elapsed();
            ensure!(status == 401, "a wrong login was answered {status}");
            answers[kind] = without_request_id(connection.body())?;
            if number >= WARM_UP {
                times[kind].push(took.as_secs_f64() * 1e6);
            }
        }
    }
    ensure!(answers[0] == answers[1], "the answers differ: {} and {}", answers[0], answers[1]);
    Ok(times)
}

/// The body of an error without the parts that are new in each.
fn without_request_id(body: &[u8]) -> Result<Value> {
    let mut body: Value = serde_json::from_slice(body)?;
    if let Some(fields) = body.as_object_mut() {
        fields.remove("requestId");
    }
    Ok(body)
}
