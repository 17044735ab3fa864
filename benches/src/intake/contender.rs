//! The contenders, and how each is started and checked.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use sqlx::{Connection as _, SqliteConnection};
use tempfile::TempDir;

use super::{ACCOUNT, NUMBER, SECRET, load};
use crate::api::login;
use crate::api::ours::{self, ADMIN};
use crate::http::{Connection, Request};
use crate::machine::Cores;
use crate::peers;
use crate::process::{self, Server};
use crate::report;
use crate::services::{Addresses, Database};
use crate::turns::{Field, Wanted};

/// The contenders of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contender {
    /// `flowsdk-server serve` with the role `phone` on PostgreSQL and Redis.
    #[value(name = "flowsdk")]
    FlowSdk,
    /// Fastify and ioredis on Node.
    Fastify,
    /// `flowsdk-server serve` with all roles on a SQLite file, which answers each message.
    #[value(name = "flowsdk-turns")]
    FlowSdkTurns,
}

impl Contender {
    const ALL: [Self; 3] = [Self::FlowSdk, Self::Fastify, Self::FlowSdkTurns];
}

impl report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::Fastify => "Fastify + ioredis",
            Self::FlowSdkTurns => "FlowSDK on SQLite, with the turns",
        }
    }
}

/// Those of `wanted` who can run, and a word on those who cannot.
pub(super) fn field(
    wanted: &Wanted<Contender>,
    services: &Addresses,
    server: &Result<PathBuf>,
) -> Field<Contender> {
    let mut field = wanted.field(&Contender::ALL);
    if !services.has_both() {
        field.leave_out("there are no PostgreSQL and Redis", |one| one != Contender::FlowSdkTurns);
    }
    if let Err(why) = server {
        field.leave_out(why, |one| one != Contender::Fastify);
    }
    if let Err(why) = peers::install() {
        field.leave_out(why, |one| one == Contender::Fastify);
    }
    field
}

/// The cores, our server and the services that the race uses.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) cores: Cores,
    pub(super) server: PathBuf,
    pub(super) services: Addresses,
}

impl Ground {
    /// Starts a contender that knows the number and its secret, and delivers once.
    pub(super) async fn start(&self, contender: Contender) -> Result<Stand> {
        let folder = tempfile::tempdir()?;
        let address = process::free_address()?;
        let (mut database, mut redis) = (None, None);
        let mut command = match contender {
            Contender::FlowSdk => {
                let database = &database.insert(self.services.database().await?).url;
                let redis = redis.insert(self.services.emptied_redis()?);
                let mut command = ours::command(&self.server, address, database, Some(redis));
                command.env("ROLES", "api,phone");
                command
            }
            Contender::Fastify => {
                let redis = redis.insert(self.services.emptied_redis()?);
                let mut command = Command::new("node");
                command.arg(peers::folder().join("intake.mjs")).arg(address.port().to_string());
                command.args([redis, SECRET]).env("NODE_ENV", "production");
                command
            }
            Contender::FlowSdkTurns => ours::command(&self.server, address, &sqlite(folder.path()), None),
        };
        let log = folder.path().join("server.log");
        let mut running = Server::start(command.stdout(Stdio::null()), self.cores, &log)?;
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        let ready = running.until(|| match contender {
            Contender::Fastify => process::listens(address),
            // Nobody consumes what it takes, which makes it not ready.
            Contender::FlowSdk => process::answers_ok(address, "/healthz"),
            Contender::FlowSdkTurns => process::answers_ok(address, "/readyz"),
        });
        ready.with_context(said)?;
        if contender != Contender::Fastify {
            set_up(address, contender == Contender::FlowSdkTurns).await.with_context(said)?;
        }
        let mut connection = Connection::open(address).await?;
        let status = connection.ask(&load::first()).await?;
        ensure!(status == 200, "a signed delivery is answered {status}");
        let status = connection.ask(&load::first().with_header("X-Hub-Signature-256", "sha256=00")).await?;
        ensure!(status != 200, "a delivery with a wrong signature is taken");
        Ok(Stand { server: running, address, redis, database, folder })
    }
}

fn sqlite(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("race.db").display())
}

/// Makes a router with a number, and with a flow that answers, if it has to.
async fn set_up(address: SocketAddr, answers: bool) -> Result<()> {
    let mut connection = Connection::open(address).await?;
    let entered = connection.json(&login(ADMIN)).await?;
    let token = entered["accessToken"].as_str().context("no accessToken")?;
    let router = json!({ "name": "Race", "channelAppSecret": SECRET });
    let router = connection.json(&Request::new("POST", "/routers", Some(token), Some(&router))).await?;
    let number = json!({ "routerId": router["id"], "name": "Race", "phoneNumberId": NUMBER, "phoneNumber": "5511987654321",
        "businessAccountId": ACCOUNT });
    connection.json(&Request::new("POST", "/channel-numbers", Some(token), Some(&number))).await?;
    if !answers {
        return Ok(());
    }
    let echo = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content", "input": {},
        "defaultOutput": { "blockId": "a" }, "contents": [{ "type": "text", "text": { "body": "echo {{input}}" } }] }] });
    let flow = json!({ "routerId": router["id"], "name": "Echo", "definition": echo });
    let flow = connection.json(&Request::new("POST", "/flows", Some(token), Some(&flow))).await?;
    let flow = flow["id"].as_str().context("no flow")?;
    let publish = Request::new("POST", &format!("/flows/{flow}/publish"), Some(token), None);
    connection.json(&publish).await?;
    let path = format!("/routers/{}", router["id"].as_str().context("no router")?);
    let first = json!({ "initialFlowId": flow });
    connection.json(&Request::new("PATCH", &path, Some(token), Some(&first))).await?;
    Ok(())
}

/// A contender that takes deliveries.
#[derive(Debug)]
pub(super) struct Stand {
    server: Server,
    address: SocketAddr,
    redis: Option<String>,
    database: Option<Database>,
    // Goes last, with the log in it.
    folder: TempDir,
}

impl Stand {
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Kills it, and returns how many messages are kept, without that of the start.
    pub(super) async fn finish(self) -> Result<u64> {
        drop(self.server);
        let kept = match &self.redis {
            Some(redis) => in_redis(redis).await?,
            None => in_sqlite(self.folder.path()).await?,
        };
        if let Some(database) = self.database {
            database.remove().await?;
        }
        Ok(kept.saturating_sub(1))
    }
}

/// The entries of the streams of incoming messages.
async fn in_redis(redis: &str) -> Result<u64> {
    let mut connection = redis::Client::open(redis)?.get_multiplexed_async_connection().await?;
    let keys: Vec<String> = redis::cmd("KEYS").arg("*incoming*").query_async(&mut connection).await?;
    let mut kept = 0;
    for key in keys {
        let kind: String = redis::cmd("TYPE").arg(&key).query_async(&mut connection).await?;
        if kind == "stream" {
            kept += redis::cmd("XLEN").arg(&key).query_async::<u64>(&mut connection).await?;
        }
    }
    Ok(kept)
}

/// The messages that are stored, and those that wait in the stream to be.
async fn in_sqlite(folder: &Path) -> Result<u64> {
    const KEPT: &str = "SELECT (SELECT COUNT(*) FROM message WHERE direction = 'in')
        + (SELECT COUNT(*) FROM stream_entry WHERE topic = 'stream:incoming')";
    let mut connection = SqliteConnection::connect(&sqlite(folder)).await?;
    let kept: i64 = sqlx::query_scalar(KEPT).fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(u64::try_from(kept)?)
}
