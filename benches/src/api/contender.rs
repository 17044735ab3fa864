//! The contenders, and how each is started and checked.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use serde::Serialize;
use tempfile::TempDir;

use super::{USERS, email, login, ours, peer};
use crate::http::load::Exchange;
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
    /// `flowsdk-server serve` on a SQLite file.
    #[value(name = "flowsdk")]
    FlowSdk,
    /// The same on PostgreSQL and Redis.
    #[value(name = "flowsdk-postgres")]
    FlowSdkPostgres,
    /// Fastify, @fastify/jwt, pg and bcrypt on Node.
    Fastify,
}

impl Contender {
    const ALL: [Self; 3] = [Self::FlowSdk, Self::FlowSdkPostgres, Self::Fastify];
}

impl report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK, SQLite",
            Self::FlowSdkPostgres => "FlowSDK, PostgreSQL and Redis",
            Self::Fastify => "Fastify, PostgreSQL",
        }
    }
}

/// The cores, our server and the services that a race uses.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) cores: Cores,
    pub(crate) server: PathBuf,
    pub(crate) services: Addresses,
}

impl Ground {
    /// Those of `wanted` who can run, and a word on those who cannot.
    pub(crate) fn field(&self, wanted: &Wanted<Contender>, server: &Result<PathBuf>) -> Field<Contender> {
        let mut field = wanted.field(&Contender::ALL);
        if let Err(why) = server {
            field.leave_out(why, |one| one != Contender::Fastify);
        }
        if !self.services.has_both() {
            field.leave_out("there are no PostgreSQL and Redis", |one| one == Contender::FlowSdkPostgres);
        }
        if !self.services.has_postgres() {
            field.leave_out("there is no PostgreSQL", |one| one == Contender::Fastify);
        } else if let Err(why) = peers::install() {
            field.leave_out(why, |one| one == Contender::Fastify);
        }
        field
    }

    /// Starts `contender` on a database with one router and its members, and tries the raced request.
    pub(crate) async fn start(&self, contender: Contender) -> Result<Stand> {
        let folder = tempfile::tempdir()?;
        let address = process::free_address()?;
        let database = match contender {
            Contender::FlowSdk => None,
            Contender::FlowSdkPostgres | Contender::Fastify => Some(self.services.database().await?),
        };
        let url = database.as_ref().map_or_else(|| sqlite(folder.path()), |database| database.url.clone());
        let (mut command, router) = if contender == Contender::Fastify {
            peer::seed(&url).await?;
            (peer::command(address, &url), peer::ROUTER.to_owned())
        } else {
            let with_redis = contender == Contender::FlowSdkPostgres;
            let redis = with_redis.then(|| self.services.emptied_redis()).transpose()?;
            let router = ours::seed(&url).await?;
            (ours::command(&self.server, address, &url, redis.as_deref()), router.to_string())
        };
        let log = folder.path().join("server.log");
        let mut running = Server::start(command.stdout(Stdio::null()), self.cores, &log)?;
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        let ready = running.until(|| match contender {
            Contender::Fastify => process::listens(address),
            _ => process::answers_ok(address, "/readyz"),
        });
        ready.with_context(said)?;
        if contender != Contender::Fastify {
            ours::make_members(address).await.with_context(said)?;
        }
        let read = try_out(address, &router).await.with_context(said)?;
        Ok(Stand { server: running, address, read, database, _folder: folder })
    }
}

fn sqlite(folder: &Path) -> String {
    format!("sqlite:{}", folder.join("race.db").display())
}

/// Reads the router as a member, and fails to as nobody.
async fn try_out(address: SocketAddr, router: &str) -> Result<Exchange> {
    let mut connection = Connection::open(address).await?;
    let entered = connection.json(&login(&email(0))).await?;
    let token = entered.get("accessToken").and_then(serde_json::Value::as_str).context("no accessToken")?;
    let path = format!("/routers/{router}");
    let status = connection.ask(&Request::new("GET", &path, None, None)).await?;
    ensure!(status == 401, "who has no token is answered {status}");
    let request = Request::new("GET", &path, Some(token), None);
    let found = connection.json(&request).await?;
    ensure!(found.get("id").is_some_and(|id| id == router), "another router: {found}");
    Ok(Exchange { request, body: connection.body().to_vec() })
}

/// A contender that answers.
#[derive(Debug)]
pub(crate) struct Stand {
    pub(crate) server: Server,
    pub(crate) address: SocketAddr,
    /// The raced request.
    pub(crate) read: Exchange,
    database: Option<Database>,
    // Goes last, with the database in it.
    _folder: TempDir,
}

impl Stand {
    /// The logins of all members.
    pub(crate) fn logins(&self) -> Vec<Request> {
        (0..USERS).map(|number| login(&email(number))).collect()
    }

    /// Ends it and takes its database away.
    pub(crate) async fn finish(self) -> Result<()> {
        self.server.stop()?;
        match self.database {
            Some(database) => database.remove().await,
            None => Ok(()),
        }
    }
}
