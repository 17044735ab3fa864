//! The login race: many log in while others read. Passwords cost a core by design; reading must not notice.

mod report;
pub(crate) mod statistic;
pub(crate) mod timing;

use std::time::{Duration, Instant};

use anyhow::Result;
use flowsdk_crypto::PASSWORD_COST;
use serde::Serialize;

use crate::api::{self, CONNECTIONS, Contender, Options, PASSWORD};
use crate::http::load::{self, Outcomes, Plan};
use crate::machine::{self, Cores};

/// The pace of the reads, as a part of the rate of the same server in a closed loop.
const PART: f64 = 0.2;

/// One turn of one contender. Rates are per second.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    contender: Contender,
    round: u32,
    /// bcrypt alone on the server's core, just before.
    hash_rate: f64,
    /// Reads in a closed loop without logins.
    closed_rate: f64,
    /// The pace of the reads that was asked for.
    pace: f64,
    /// Latency of the reads without logins.
    calm_p50_ms: f64,
    calm_p99_ms: f64,
    /// Latency of the reads with logins.
    read_p50_ms: f64,
    read_p99_ms: f64,
    login_rate: f64,
    login_p50_ms: f64,
    login_p99_ms: f64,
    /// Logins in proportion to bcrypt alone.
    of_hash_rate: f64,
    /// The same in proportion to bcrypt alone on the part of the core that the reads leave.
    of_what_is_left: f64,
    /// The part of the pace that was kept with logins. Below 1 requests pile up, and latency grows for as long
    /// as one measures.
    kept: f64,
    /// Why it does not count.
    fault: Option<String>,
}

/// Runs the race.
pub(crate) fn race(options: &Options) -> Result<()> {
    let cores = Cores::choose()?;
    let window = options.extent.window();
    let mut runs = Vec::new();
    api::in_turns(options, |stand, runtime, contender, round| {
        let hash_rate = hash_rate(cores, window / 2)?;
        let measure = |pace, with_logins: bool| -> Result<Outcomes> {
            runtime.block_on(load::run(Plan {
                address: stand.address,
                read: stand.read.clone(),
                connections: CONNECTIONS,
                pace,
                logins: if with_logins { stand.logins() } else { Vec::new() },
                window,
                pid: stand.server.pid(),
            }))
        };
        let closed = measure(None, false)?;
        let pace = closed.reads.rate() * PART;
        let calm = measure(Some(pace), false)?;
        let storm = measure(Some(pace), true)?;
        let run = note(contender, round, hash_rate, [&closed, &calm, &storm], pace);
        eprintln!("{}", crate::report::line(&run));
        runs.push(run);
        Ok(())
    })?;
    report::finish(options, &runs)
}

fn note(
    contender: Contender,
    round: u32,
    hash_rate: f64,
    [closed, calm, storm]: [&Outcomes; 3],
    pace: f64,
) -> Run {
    let kept = storm.reads.rate() / pace;
    // The cost of a read is known from the same pace without logins.
    let taken = calm.reads.cpu_per_message() * 1e-6 * storm.reads.rate();
    let login_rate = storm.logins.rate();
    let parts = [&closed.reads, &calm.reads, &storm.reads, &storm.logins];
    Run {
        contender,
        round,
        hash_rate,
        closed_rate: closed.reads.rate(),
        pace,
        calm_p50_ms: calm.reads.latency(0.5),
        calm_p99_ms: calm.reads.latency(0.99),
        read_p50_ms: storm.reads.latency(0.5),
        read_p99_ms: storm.reads.latency(0.99),
        login_rate,
        login_p50_ms: storm.logins.latency(0.5),
        login_p99_ms: storm.logins.latency(0.99),
        of_hash_rate: login_rate / hash_rate,
        of_what_is_left: login_rate / (hash_rate * (1.0 - taken)),
        kept,
        fault: parts.into_iter().find_map(|outcome| outcome.fault()),
    }
}

/// Comparisons a second of one password on the server's core alone.
fn hash_rate(cores: Cores, window: Duration) -> Result<f64> {
    machine::pin(cores.server)?;
    let hash = bcrypt::hash(PASSWORD, PASSWORD_COST)?;
    let (mut count, began) = (0_u32, Instant::now());
    while began.elapsed() < window {
        bcrypt::verify(PASSWORD, &hash)?;
        count += 1;
    }
    let rate = f64::from(count) / began.elapsed().as_secs_f64();
    machine::pin(cores.load)?;
    Ok(rate)
}
