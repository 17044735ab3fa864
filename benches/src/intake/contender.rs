//! The contenders, and how each is started and checked.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use super::{ACCOUNT, NUMBER, SECRET, load};
use crate::api::login;
use crate::api::ours::{self, ADMIN};
use crate::http::{Connection, Request};
use crate::machine::Cores;
use crate::peers;
use crate::process::{self, Server};
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
}

impl Contender {
    const ALL: [Self; 2] = [Self::FlowSdk, Self::Fastify];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::Fastify => "Fastify + ioredis",
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
        field.leave_out("there are no PostgreSQL and Redis", |_| true);
        return field;
    }
    if let Err(why) = server {
        field.leave_out(why, |one| one == Contender::FlowSdk);
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
        let redis = self.services.emptied_redis()?;
        let database = match contender {
            Contender::FlowSdk => Some(self.services.database().await?),
            Contender::Fastify => None,
        };
        let mut command = match &database {
            Some(database) => {
                let mut command = ours::command(&self.server, address, &database.url, Some(&redis));
                command.env("ROLES", "api,phone");
                command
            }
            None => {
                let mut command = Command::new("node");
                command.arg(peers::folder().join("intake.mjs")).arg(address.port().to_string());
                command.args([&redis, SECRET]).env("NODE_ENV", "production");
                command
            }
        };
        let log = folder.path().join("server.log");
        let mut running = Server::start(command.stdout(Stdio::null()), self.cores, &log)?;
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        let ready = running.until(|| match contender {
            Contender::Fastify => process::listens(address),
            Contender::FlowSdk => process::answers_ok(address, "/readyz"),
        });
        ready.with_context(said)?;
        if contender == Contender::FlowSdk {
            set_up(address).await.with_context(said)?;
        }
        let mut connection = Connection::open(address).await?;
        let status = connection.ask(&load::first()).await?;
        ensure!(status == 200, "a signed delivery is answered {status}");
        let status = connection.ask(&load::first().with_header("X-Hub-Signature-256", "sha256=00")).await?;
        ensure!(status != 200, "a delivery with a wrong signature is taken");
        Ok(Stand { server: running, address, redis, database, _folder: folder })
    }
}

/// Makes a router with a number.
async fn set_up(address: SocketAddr) -> Result<()> {
    let mut connection = Connection::open(address).await?;
    let entered = connection.json(&login(ADMIN)).await?;
    let token = entered["accessToken"].as_str().context("no accessToken")?;
    let router = json!({ "name": "Race", "channelAppSecret": SECRET });
    let router = connection.json(&Request::new("POST", "/routers", Some(token), Some(&router))).await?;
    let number = json!({ "routerId": router["id"], "name": "Race", "phoneNumberId": NUMBER, "phoneNumber": "5511987654321",
        "businessAccountId": ACCOUNT });
    connection.json(&Request::new("POST", "/channel-numbers", Some(token), Some(&number))).await?;
    Ok(())
}

/// A contender that takes deliveries.
#[derive(Debug)]
pub(super) struct Stand {
    server: Server,
    address: SocketAddr,
    redis: String,
    database: Option<Database>,
    // Goes last, with the log in it.
    _folder: TempDir,
}

impl Stand {
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Kills it, and returns how many messages are in Redis, without that of the start.
    pub(super) async fn finish(self) -> Result<u64> {
        drop(self.server);
        let kept = kept(&self.redis).await?;
        if let Some(database) = self.database {
            database.remove().await?;
        }
        Ok(kept.saturating_sub(1))
    }
}

/// The entries of the streams of incoming messages.
async fn kept(redis: &str) -> Result<u64> {
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
