//! One set-up at work: its servers, its visitors, and the faults that are inflicted on it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use super::fault::{Faults, Kind};
use super::read::Place;
use super::record::{Database, Processes, Visitor as Record};
use super::seed::Seeded;
use super::server::{ADMIN, PASSWORD, Roster, Server};
use super::services::{Programs, Services};
use super::visitor::{Scene, Visitor};
use super::watch::{Watch, now};
use super::{history, log, outside, script, seed};
use crate::attacks::{Attack, Tally, Target, strangers, tenant};
use crate::outside::Outside;
use crate::random::Random;

/// How long visitors may wait at the end for the answers that they are owed.
const DRAIN: Duration = Duration::from_secs(90);
/// How long the streams may take to be empty when all visitors have their answers. The long turns of attackers, which
/// run few at once, may still wait.
const REST: Duration = Duration::from_secs(180);
/// How long statuses, and timers that were about to ring, may take to be on their way.
const SETTLING: Duration = Duration::from_secs(6);

/// The order for one set-up.
pub(super) struct Plan {
    /// `embedded` or `production`.
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    /// With them the set-up has several processes.
    pub(super) services: Option<Programs>,
    pub(super) faketime: Option<PathBuf>,
    /// Without faults.
    pub(super) is_calm: bool,
    /// Without attacks.
    pub(super) is_peaceful: bool,
    pub(super) visitors: usize,
    pub(super) time: Duration,
    pub(super) random: Random,
}

impl Plan {
    /// The faults that this set-up can take.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        if self.is_calm {
            return Vec::new();
        }
        let mut kinds = vec![Kind::Kill, Kind::Kill, Kind::Restart, Kind::Sleep];
        if self.faketime.is_some() {
            kinds.push(Kind::Clock);
        }
        if self.services.is_some() {
            kinds.extend([Kind::Redis, Kind::Postgres]);
        }
        kinds
    }
}

/// The records of a set-up that has ended.
pub(super) struct Outcome {
    pub(super) visitors: Vec<Record>,
    pub(super) database: Database,
    pub(super) processes: Processes,
}

/// The processes of a set-up.
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) servers: Vec<Server>,
    pub(super) services: Option<Services>,
    pub(super) processes: Processes,
}

/// Carries out a plan.
pub(super) async fn perform(mut plan: Plan) -> Result<Outcome> {
    std::fs::create_dir_all(&plan.folder)?;
    let outside = Outside::start(outside::routes()).await?;
    let services = match &plan.services {
        Some(programs) => Some(Services::start(programs, &plan.folder).await?),
        None => None,
    };
    let sqlite = plan.folder.join("flowsdk.db");
    let place = services
        .as_ref()
        .map_or_else(|| Place::Sqlite(format!("sqlite:{}", sqlite.display())), Services::place);
    let definition = script::definition(&format!("http://{}", outside.address));
    let seeded = seed::seed(place.database(), definition).await?;
    let roster = Roster::default();
    let count = if services.is_some() { 2 } else { 1 };
    let server = |number| {
        let environment = place.environment();
        Server::new(
            &format!("server-{number}"),
            &plan.program,
            &plan.folder,
            &roster,
            plan.faketime.as_deref(),
            environment,
        )
    };
    let servers = (0..count).map(server).collect::<Result<Vec<_>>>()?;
    let mut stage = Stage { name: plan.name, servers, services, processes: Processes::default() };
    for server in &mut stage.servers {
        server.start(0)?;
        server.ready().await?;
    }
    let scene = Arc::new(Scene {
        addresses: stage.servers.iter().map(|server| server.address).collect(),
        seeded,
        writing: AtomicBool::new(true),
        said: AtomicU64::new(0),
        acknowledged: AtomicU64::new(0),
        seen: AtomicU64::new(0),
    });
    let mut crowd = JoinSet::new();
    let mut records = Vec::new();
    for number in 0..plan.visitors {
        let (visitor, record) = Visitor::new(Arc::clone(&scene), number, plan.random.fork());
        records.push(record);
        crowd.spawn(visitor.live());
    }
    let silent = Outside::silent().await?;
    let tally = Tally::default();
    let attacks =
        if plan.is_peaceful { Vec::new() } else { attack(&scene.addresses, &silent, &tally).await? };
    let watch = Watch::start(plan.name, roster.clone(), Arc::clone(&scene), sqlite.with_extension("db-wal"));
    let faults = Faults::new(plan.random.fork(), plan.kinds());
    stage.suffer(faults, plan.time, &watch).await?;
    tokio::task::spawn_blocking(|| attacks.into_iter().for_each(Attack::end)).await?;
    drop(silent);
    for (attack, ends) in tally.rows() {
        println!("{}: attack {attack}: {ends}", plan.name);
    }
    scene.writing.store(false, Ordering::SeqCst);
    let all_done = async { while crowd.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, all_done).await.is_err() {
        println!("{}: {} visitors still wait after {} s", plan.name, crowd.len(), DRAIN.as_secs());
    }
    crowd.shutdown().await;
    let undelivered = rest(&place).await?;
    stage.processes.at_the_end = roster.sample();
    let (samples, wal_peak_bytes) = watch.end();
    let taken = |record: &Arc<Mutex<Record>>| record.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut visitors: Vec<Record> = records.iter().map(taken).collect();
    for visitor in &mut visitors {
        let address = plan.random.pick(&scene.addresses);
        match history::read(address, &scene.seeded, visitor).await {
            Ok(history) => visitor.history = history,
            Err(error) => visitor.surprises.push(format!("the history cannot be read: {error:#}")),
        }
    }
    let database = Database { undelivered, ..stage.close(&place, &scene.seeded).await? };
    stage.processes.samples = samples;
    stage.processes.wal_peak_bytes = wal_peak_bytes;
    stage.read_logs()?;
    Ok(Outcome { visitors, database, processes: stage.processes })
}

/// Lets another tenant and strangers begin.
async fn attack(addresses: &[SocketAddr], silent: &Outside, tally: &Tally) -> Result<Vec<Attack>> {
    let target = Target::enter(addresses.to_vec(), ADMIN, PASSWORD).await?;
    let tenant = tenant::begin(&target, silent.address, &[], tally).await?;
    Ok(vec![tenant, strangers::begin(&target, &[], tally)?])
}

/// Waits until the streams are empty; otherwise returns the entries that stay. An entry that is only on its way is
/// gone at the next look, one that is stuck never is.
async fn rest(place: &Place) -> Result<Vec<String>> {
    // The last messages without an ack count as delivered after five seconds.
    tokio::time::sleep(SETTLING).await;
    let end = Instant::now() + REST;
    loop {
        let left = place.undelivered().await?;
        if left.is_empty() || Instant::now() > end {
            return Ok(left);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

impl Stage {
    /// Stops the servers in order, and reads the tables before that.
    async fn close(&mut self, place: &Place, seeded: &Seeded) -> Result<Database> {
        let database = place.read(now(), seeded).await?;
        for server in &mut self.servers {
            let complaint = server.stop().await?;
            self.processes.ends.extend(complaint);
        }
        Ok(database)
    }

    fn read_logs(&mut self) -> Result<()> {
        for file in self.servers.iter().flat_map(|server| &server.logs) {
            let text = std::fs::read_to_string(&file.file)?;
            self.processes.log_bytes += text.len() as u64;
            self.processes.log_lines += text.lines().count() as u64;
            self.processes.log.extend(log::read(&text, file.ahead));
        }
        Ok(())
    }
}

/// Returns the library that shifts clocks, where Debian's package puts it.
pub(super) fn find_faketime() -> Option<PathBuf> {
    let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"];
    folders
        .iter()
        .map(|folder| Path::new("/usr/lib").join(folder).join("faketime/libfaketimeMT.so.1"))
        .find(|file| file.exists())
}
