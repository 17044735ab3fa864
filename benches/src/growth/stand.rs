//! A server on a store of some size.

use std::fs;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use flowsdk_core::context::OpContext;
use tempfile::TempDir;

use super::reads::{self, Caller, Read};
use super::sink::{Rows, Sink};
use super::store::{COHORT, Marks, TENANTS, Writer};
use super::{Ground, Store};
use crate::api::{PASSWORD, ours};
use crate::attacks::Target;
use crate::http::{Connection, Request};
use crate::load::{self, Outcome, Plan};
use crate::process::{self, Server};
use crate::services::Database;
use crate::trips;
use crate::webchat::contender::without_limits;
use crate::webchat::seed::{self, Channel, Opening};

/// Cohorts that are written in one transaction.
const COHORTS: u64 = 10;
/// How often a read is asked for before it is timed.
const WARM_UP: u32 = 5;
/// What the client of the smallest tenant may read.
const RESOURCES: [&str; 1] = ["contacts"];

/// A database with its rows.
pub(super) struct Seeded {
    url: String,
    channel: Channel,
    marks: Marks,
    routers: Vec<String>,
    database: Option<Database>,
    // Goes last, with the database in it.
    folder: TempDir,
}

impl Seeded {
    /// Writes a store of `contacts`.
    pub(super) async fn write(ground: &Ground<'_>, store: Store, contacts: u64) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("race.db");
        let database = match store {
            Store::Sqlite => None,
            Store::Postgres => Some(ground.services.database().await?),
        };
        let sqlite = || format!("sqlite:{}", file.display());
        let url = database.as_ref().map_or_else(sqlite, |database| database.url.clone());
        let channel = seed::seed(&url.parse()?, Opening::Token).await?;
        let sink = match store {
            Store::Sqlite => Sink::sqlite(&file)?,
            Store::Postgres => Sink::postgres(&url).await?,
        };
        let began = Instant::now();
        let (marks, routers) = fill(sink, contacts, &channel).await?;
        eprintln!("flowsdk-benches: {contacts} contacts written in {:.1} s", began.elapsed().as_secs_f64());
        Ok(Self { url, channel, marks, routers, database, folder })
    }
}

/// A running server, and what it is asked.
pub(super) struct Stand {
    address: SocketAddr,
    server: Server,
    reads: Vec<Asked>,
    connection: Connection,
    seeded: Seeded,
}

/// A read, written out with the token of its caller.
struct Asked {
    name: &'static str,
    path: String,
    request: Request,
}

impl Stand {
    /// Starts a server on `seeded`.
    pub(super) async fn start(ground: &Ground<'_>, seeded: Seeded) -> Result<Self> {
        let (address, log) = (process::free_address()?, seeded.folder.path().join("server.log"));
        let mut command = ours::command(&ground.server, address, &seeded.url, None);
        without_limits(&mut command);
        let mut server = Server::start(command.stdout(Stdio::null()), ground.cores, &log)?;
        let said = || fs::read_to_string(&log).unwrap_or_default();
        server.until(|| process::answers_ok(address, "/readyz")).with_context(said)?;
        let reads = asked(address, &seeded).await.with_context(said)?;
        let connection = Connection::open(address).await?;
        Ok(Self { address, server, reads, connection, seeded })
    }

    /// Returns the names of the reads, which are the same on every stand.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.reads.iter().map(|asked| asked.name).collect()
    }

    /// Asks for read `number` on a new connection, so that none was idle for too long, without timing it.
    pub(super) async fn warm_up(&mut self, number: usize) -> Result<()> {
        self.connection = Connection::open(self.address).await?;
        for _ in 0..WARM_UP {
            self.time(number).await?;
        }
        Ok(())
    }

    /// Asks for read `number`, and returns how long the answer took in milliseconds.
    ///
    /// # Errors
    /// It was refused, or a page is empty.
    pub(super) async fn time(&mut self, number: usize) -> Result<f64> {
        let asked = &self.reads[number];
        let began = Instant::now();
        let status = self.connection.ask(&asked.request).await?;
        let millis = began.elapsed().as_secs_f64() * 1e3;
        let body = self.connection.body();
        let is_full = !body.starts_with(EMPTY);
        let said = || format!("{}: {status} {}", asked.path, String::from_utf8_lossy(body));
        (status == 200 && is_full).then_some(millis).with_context(said)
    }

    /// Lets a visitor write again as soon as they are answered.
    pub(super) async fn turns(&self, visitor: &str, window: Duration) -> Result<Outcome> {
        load::run(Plan {
            entrances: vec![load::entrance(self.address, "/webchat/socket.io/")],
            auths: vec![self.seeded.channel.auth(visitor)?],
            pace: None,
            window,
            answer: |n, text| trips::ring(n, text, text),
            pids: vec![self.server.pid()],
            acknowledge: false,
        })
        .await
    }

    /// Ends it and takes its database away.
    pub(super) async fn finish(self) -> Result<()> {
        self.server.stop()?;
        match self.seeded.database {
            Some(database) => database.remove().await,
            None => Ok(()),
        }
    }
}

/// How the answer begins that is a page without items.
const EMPTY: &[u8] = b"{\"items\":[]";

/// Writes the rows of `contacts`, and returns some of them and the routers.
async fn fill(mut sink: Sink, contacts: u64, channel: &Channel) -> Result<(Marks, Vec<String>)> {
    let cx = OpContext::system();
    let routers: Vec<String> = TENANTS.iter().map(|_| cx.ids().next_id()).collect();
    let mut tenants = Rows::of("router", &["id", "name", "tz", "created_at", "updated_at"]);
    for (number, router) in routers.iter().enumerate() {
        let at = cx.now().as_millis();
        let name = format!("Tenant {number}");
        tenants.add([router.as_str().into(), name.into(), "UTC".into(), at.into(), at.into()]);
    }
    sink.write(&[tenants]).await?;
    let mut writer = Writer::new(contacts, routers.clone(), channel.id(), cx.now());
    let firsts: Vec<u64> = (0..contacts / COHORT).map(|cohort| cohort * COHORT).collect();
    for firsts in firsts.chunks(COHORTS as usize) {
        let tables: Vec<Rows> = firsts.iter().flat_map(|&first| writer.cohort(first)).collect();
        sink.write(&tables).await?;
    }
    sink.finish().await?;
    Ok((writer.marks(), routers))
}

/// Lets the callers in, and writes their requests out.
async fn asked(address: SocketAddr, seeded: &Seeded) -> Result<Vec<Asked>> {
    let target = Target::enter(vec![address], ours::ADMIN, PASSWORD).await?;
    let smallest = seeded.routers.last().context("no tenant")?;
    let tenant = target.confined("Tenant", smallest, &RESOURCES).await?;
    let write_out = |Read { name, caller, path }: Read| {
        let token = match caller {
            Caller::Admin => target.admin(),
            Caller::Tenant => &tenant,
        };
        let request = Request::new("GET", &path, Some(token), None);
        Asked { name, path, request }
    };
    Ok(reads::reads(&seeded.marks, &seeded.routers[1]).into_iter().map(write_out).collect())
}
