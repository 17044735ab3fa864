//! The steps of a turn.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;

use super::contender::{Contender, Limits, Site};
use super::crowd::Crowd;
use super::{Options, Run, keys};
use crate::load::Known;
use crate::machine::{self, Cores};
use crate::process::Server;
use crate::webchat::seed::{self, Opening};

/// How long everybody rests before memory is looked at.
const SETTLE: Duration = Duration::from_secs(3);
/// Wrong keys that are tried after each return.
const SAMPLE: usize = 10;
/// New visits that are tried against the limits of a server: more than a minute allows.
const VISITS: usize = 80;

/// The turn of our server.
pub(super) async fn ours(
    options: &Options,
    program: &Path,
    folder: &Path,
    cores: Cores,
    round: u32,
) -> Result<Run> {
    let site = Site::new(Contender::FlowSdk, program, folder, cores)?;
    let channel = seed::seed(&seed::sqlite(&site.database()), Opening::Anybody).await?;
    let stored = keys::store(&site.database(), &channel, options.sockets - options.fresh()).await?;
    let mut house = House { site, channel: channel.id(), known: stored, wrong_keys: (0, 0) };

    let server = house.site.start(Limits::Off)?;
    tokio::time::sleep(SETTLE).await;
    let empty = machine::resident_kib(server.pid())?;
    let mut crowd = Crowd::default();
    let began = Instant::now();
    let anonymous = json!({ "channelId": house.channel }).to_string();
    let entered = crowd.enter(&house.site.entrance(), vec![anonymous.clone(); options.fresh()]).await?;
    let fresh_seconds = began.elapsed().as_secs_f64();
    crowd.enter(&house.site.entrance(), house.auths()).await?;
    let new = entered.iter().map(|auth_ok| Known::of(auth_ok).context("a new visitor without a key"));
    house.known.extend(new.collect::<Result<Vec<_>>>()?);
    let rest = rest(&crowd, &server, options, empty).await?;
    house.try_wrong_keys().await?;

    let began = Instant::now();
    crowd.leave().await;
    let crowd = house.all_back().await?;
    let dropped_seconds = began.elapsed().as_secs_f64();
    house.try_wrong_keys().await?;

    let began = Instant::now();
    // Dropping it is a `kill -9`.
    drop(server);
    let server = house.site.start(Limits::Off)?;
    let empty = machine::resident_kib(server.pid())?;
    crowd.leave().await;
    let crowd = house.all_back().await?;
    let killed_seconds = began.elapsed().as_secs_f64();
    tokio::time::sleep(SETTLE).await;
    let kib_a_socket_of_known = per_socket(machine::resident_kib(server.pid())?, empty, options.sockets);
    house.try_wrong_keys().await?;

    let (server, crowd, stopped_seconds) = house.restart(server, crowd, Limits::Off).await?;
    let (server, crowd, limited_seconds) = house.restart(server, crowd, Limits::Default).await?;
    let refused = keys::refused(&house.site.entrance(), vec![anonymous; VISITS], "rate_limited").await?;
    crowd.expect_all()?;
    crowd.leave().await;
    server.stop()?;

    let (refused_keys, tried_keys) = house.wrong_keys;
    Ok(Run {
        contender: Contender::FlowSdk,
        round,
        sockets: options.sockets,
        fresh: options.fresh(),
        fresh_seconds,
        kib_a_socket: rest.kib_a_socket,
        kib_a_socket_of_known: Some(kib_a_socket_of_known),
        rest_percent: rest.percent,
        dropped_seconds,
        killed_seconds: Some(killed_seconds),
        stopped_seconds: Some(stopped_seconds),
        limited_seconds: Some(limited_seconds),
        limited_visits: Some((VISITS - refused, VISITS)),
        wrong_keys: house.wrong_keys,
        fault: (refused_keys < tried_keys)
            .then(|| format!("{} of {tried_keys} wrong keys were let in", tried_keys - refused_keys)),
    })
}

/// The turn of the peer: memory, rest, and the return of all. It knows no keys.
pub(super) async fn peer(options: &Options, folder: &Path, cores: Cores, round: u32) -> Result<Run> {
    let site = Site::new(Contender::Node, Path::new("node"), folder, cores)?;
    let server = site.start(Limits::Off)?;
    tokio::time::sleep(SETTLE).await;
    let empty = machine::resident_kib(server.pid())?;
    let auth = |number: usize| json!({ "channelId": "c1", "userId": format!("u{number}") }).to_string();
    let auths: Vec<String> = (0..options.sockets).map(auth).collect();
    let mut crowd = Crowd::default();
    let began = Instant::now();
    crowd.enter(&site.entrance(), auths.clone()).await?;
    let fresh_seconds = began.elapsed().as_secs_f64();
    let rest = rest(&crowd, &server, options, empty).await?;
    let began = Instant::now();
    crowd.leave().await;
    let mut crowd = Crowd::default();
    crowd.enter(&site.entrance(), auths).await?;
    let dropped_seconds = began.elapsed().as_secs_f64();
    crowd.leave().await;
    server.stop()?;
    Ok(Run {
        contender: Contender::Node,
        round,
        sockets: options.sockets,
        fresh: options.sockets,
        fresh_seconds,
        kib_a_socket: rest.kib_a_socket,
        kib_a_socket_of_known: None,
        rest_percent: rest.percent,
        dropped_seconds,
        killed_seconds: None,
        stopped_seconds: None,
        limited_seconds: None,
        limited_visits: None,
        wrong_keys: (0, 0),
        fault: None,
    })
}

/// Our server's site and the visitors that it has to know.
struct House {
    site: Site,
    channel: String,
    known: Vec<Known>,
    /// Refused, and tried.
    wrong_keys: (usize, usize),
}

impl House {
    fn auths(&self) -> Vec<String> {
        self.known.iter().map(|known| known.auth(&self.channel)).collect()
    }

    /// Everybody comes back with their key.
    async fn all_back(&self) -> Result<Crowd> {
        let mut crowd = Crowd::default();
        crowd.enter(&self.site.entrance(), self.auths()).await?;
        Ok(crowd)
    }

    /// Tries a sample of visitors with a wrong key each: all must be refused.
    async fn try_wrong_keys(&mut self) -> Result<()> {
        let every = (self.known.len() / SAMPLE).max(1);
        let sample = self.known.iter().step_by(every).take(SAMPLE);
        let auths: Vec<String> = sample.map(|known| known.with_wrong_key().auth(&self.channel)).collect();
        self.wrong_keys.1 += auths.len();
        self.wrong_keys.0 += keys::refused(&self.site.entrance(), auths, "identity_invalid").await?;
        Ok(())
    }

    /// Stops the server by SIGTERM and starts it again: how many seconds until all are back.
    async fn restart(
        &mut self,
        server: Server,
        crowd: Crowd,
        limits: Limits,
    ) -> Result<(Server, Crowd, f64)> {
        crowd.expect_all()?;
        let began = Instant::now();
        let stopping = tokio::task::spawn_blocking(|| server.stop());
        stopping.await??;
        let server = self.site.start(limits)?;
        crowd.leave().await;
        let crowd = self.all_back().await?;
        let seconds = began.elapsed().as_secs_f64();
        self.try_wrong_keys().await?;
        Ok((server, crowd, seconds))
    }
}

/// A server with visitors at rest.
struct Rest {
    kib_a_socket: f64,
    percent: f64,
}

async fn rest(crowd: &Crowd, server: &Server, options: &Options, empty_kib: u64) -> Result<Rest> {
    tokio::time::sleep(SETTLE).await;
    let kib_a_socket = per_socket(machine::resident_kib(server.pid())?, empty_kib, options.sockets);
    let (used, began) = (machine::cpu_time(server.pid())?, Instant::now());
    tokio::time::sleep(options.rest()).await;
    let percent = percent(machine::cpu_time(server.pid())?.saturating_sub(used), began.elapsed());
    crowd.expect_all()?;
    Ok(Rest { kib_a_socket, percent })
}

/// Memory beyond that of the empty server, for each socket.
fn per_socket(resident_kib: u64, empty_kib: u64, sockets: usize) -> f64 {
    resident_kib.saturating_sub(empty_kib) as f64 / sockets.max(1) as f64
}

/// Processor time in per cent of a core.
fn percent(used: Duration, time: Duration) -> f64 {
    100.0 * used.as_secs_f64() / time.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shared_out_over_the_sockets() {
        assert_eq!(per_socket(190_000, 40_000, 10_000), 15.0);
        assert_eq!(per_socket(39_000, 40_000, 10_000), 0.0);
    }

    #[test]
    fn a_tenth_of_a_core_is_ten_per_cent() {
        assert_eq!(percent(Duration::from_millis(500), Duration::from_secs(5)), 10.0);
    }
}
