//! The contenders, and how each is started and checked.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tempfile::TempDir;

use crate::load::{self, Entrance};
use crate::machine::Cores;
use crate::peers;
use crate::process::{self, Server};
use crate::report;
use crate::services::{Addresses, Database};
use crate::trips::{self, Rows, ring};
use crate::webchat::contender::{serve, without_limits};
use crate::webchat::seed::{self, Channel, Opening};

/// How long the last rows may take after the last answer.
const ROWS: Duration = Duration::from_secs(10);
/// How often they are counted.
const POLL: Duration = Duration::from_millis(50);

/// The contenders of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contender {
    /// One `flowsdk-server serve`.
    #[value(name = "flowsdk")]
    FlowSdk,
    /// Two, each with half of the visitors and half of the conversations.
    #[value(name = "flowsdk-two")]
    FlowSdkTwo,
    /// Two: one has the visitors, the other the conversations.
    #[value(name = "flowsdk-split")]
    FlowSdkSplit,
    /// Socket.IO, ioredis and pg on Node, a transaction a turn.
    Node,
    /// The same, a transaction a batch.
    NodeBatched,
}

/// One process of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    /// The roles of our server; `None` is all.
    roles: Option<&'static str>,
    /// Whether it takes visitors.
    takes_visitors: bool,
}

const WHOLE: Part = Part { roles: None, takes_visitors: true };
const GATEWAY: Part = Part { roles: Some("webchat"), takes_visitors: true };
const CONVERSATIONS: Part = Part { roles: Some("api,orchestrator,engine"), takes_visitors: false };

impl report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::FlowSdkTwo => "FlowSDK, two processes",
            Self::FlowSdkSplit => "FlowSDK, gateway and conversations apart",
            Self::Node => "Node + ioredis + pg",
            Self::NodeBatched => "the same, a transaction a batch",
        }
    }
}

impl trips::Contender for Contender {}

impl Contender {
    pub(crate) const ALL: [Self; 5] =
        [Self::FlowSdk, Self::FlowSdkTwo, Self::FlowSdkSplit, Self::Node, Self::NodeBatched];

    pub(crate) fn is_node(self) -> bool {
        matches!(self, Self::Node | Self::NodeBatched)
    }

    fn parts(self) -> &'static [Part] {
        match self {
            Self::FlowSdk | Self::Node | Self::NodeBatched => &[WHOLE],
            Self::FlowSdkTwo => &[WHOLE, WHOLE],
            Self::FlowSdkSplit => &[CONVERSATIONS, GATEWAY],
        }
    }

    /// Starts its processes on an empty database and an empty Redis, and waits until all of them are ready.
    pub(crate) async fn start(self, server: &Path, services: &Addresses, cores: Cores) -> Result<Stand> {
        let folder = tempfile::tempdir()?;
        let database = services.database().await?;
        let redis = services.emptied_redis()?;
        let channel = if self.is_node() {
            None
        } else {
            Some(seed::seed(&database.url.parse()?, Opening::Token).await?)
        };
        let (mut servers, mut addresses) = (Vec::new(), Vec::new());
        for (number, part) in self.parts().iter().enumerate() {
            let address = process::free_address()?;
            let mut command = match channel {
                Some(_) => ours(server, &database.url, &redis, address, *part, self.parts().len()),
                None => node(&database.url, &redis, address, self == Self::NodeBatched),
            };
            let log = folder.path().join(format!("server{number}.log"));
            let mut running = Server::start(command.stdout(Stdio::null()), cores, &log)?;
            // Of several, the first brings the schema up to date.
            let ready = running.until(|| match channel {
                Some(_) => process::answers_ok(address, "/healthz"),
                None => process::listens(address),
            });
            ready.with_context(|| std::fs::read_to_string(&log).unwrap_or_default())?;
            servers.push(running);
            addresses.push((address, *part));
        }
        if channel.is_some() {
            for (running, (address, _)) in servers.iter_mut().zip(&addresses) {
                running.until(|| process::answers_ok(*address, "/readyz"))?;
            }
        }
        let entrances = addresses.iter().filter(|(_, part)| part.takes_visitors);
        let entrances = entrances.map(|(address, _)| *address).collect();
        Ok(Stand { servers, entrances, database, channel, _folder: folder })
    }
}

/// One process of ours. As many partitions as processes let each have a part of the conversations.
fn ours(
    server: &Path,
    database: &str,
    redis: &str,
    address: SocketAddr,
    part: Part,
    processes: usize,
) -> Command {
    let mut command = serve(server, database, address);
    without_limits(&mut command);
    command.env("REDIS_URL", redis).env("STREAM_PARTITIONS", processes.to_string());
    match part.roles {
        Some(roles) => command.env("ROLES", roles),
        None => command.env_remove("ROLES"),
    };
    command
}

fn node(database: &str, redis: &str, address: SocketAddr, batched: bool) -> Command {
    let mut command = Command::new("node");
    command.arg(peers::folder().join("streams.mjs")).arg(address.port().to_string()).args([database, redis]);
    command.env("NODE_ENV", "production").env("BATCHED", if batched { "1" } else { "0" });
    command
}

/// A contender that takes visitors.
#[derive(Debug)]
pub(crate) struct Stand {
    servers: Vec<Server>,
    entrances: Vec<SocketAddr>,
    database: Database,
    channel: Option<Channel>,
    _folder: TempDir,
}

impl trips::Stand for Stand {
    fn pids(&self) -> Vec<u32> {
        self.servers.iter().map(Server::pid).collect()
    }

    fn entrances(&self) -> Vec<Entrance> {
        let path = if self.channel.is_some() { "/webchat/socket.io/" } else { "/socket.io/" };
        self.entrances.iter().map(|&address| load::entrance(address, path)).collect()
    }

    fn auth(&self, visitor: &str) -> Result<String> {
        match &self.channel {
            Some(channel) => channel.auth(visitor),
            None => Ok(json!({ "channelId": "c1", "userId": visitor }).to_string()),
        }
    }

    fn answer(&self) -> fn(u64, &str) -> String {
        match self.channel {
            Some(_) => |n, text| ring(n, text, text),
            None => |n, text| ring(n, text, &n.to_string()),
        }
    }
}

impl Stand {
    /// Waits for the rows of `written` messages, ends the processes, and counts the rows that are there then.
    pub(crate) async fn finish(self, written: u64) -> Result<Rows> {
        let column = if self.channel.is_some() { "direction" } else { "dir" };
        let mut connection = PgConnection::connect(&self.database.url).await?;
        let end = Instant::now() + ROWS;
        while count(&mut connection, column).await?.fault(written).is_some() && Instant::now() < end {
            tokio::time::sleep(POLL).await;
        }
        for server in self.servers {
            server.stop()?;
        }
        let rows = count(&mut connection, column).await?;
        connection.close().await?;
        self.database.remove().await?;
        Ok(rows)
    }
}

async fn count(connection: &mut PgConnection, column: &str) -> Result<Rows> {
    let sql = format!(
        "SELECT COUNT(*) FILTER (WHERE {column} = 'in'), COUNT(*) FILTER (WHERE {column} = 'out') FROM message"
    );
    let (inbound, outbound): (i64, i64) =
        sqlx::query_as(AssertSqlSafe(sql)).fetch_one(connection).await.context("the rows of the race")?;
    Ok(Rows { inbound: u64::try_from(inbound)?, outbound: u64::try_from(outbound)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_has_an_entrance_and_all_roles() {
        for contender in Contender::ALL {
            let parts = contender.parts();
            assert!(parts.iter().any(|part| part.takes_visitors), "{contender:?}");
            let mut roles: Vec<&str> =
                parts.iter().flat_map(|part| part.roles.unwrap_or("all").split(',')).collect();
            roles.sort_unstable();
            roles.dedup();
            let whole = roles == ["all"] || roles == ["api", "engine", "orchestrator", "webchat"];
            assert!(whole, "{contender:?}: {roles:?}");
        }
    }

    #[test]
    fn a_process_of_several_has_its_roles_and_as_many_partitions() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let command = ours(Path::new("server"), "postgres://p/d", "redis://r/9", address, GATEWAY, 2);
        let value = |name: &str| {
            let found = command.get_envs().find(|(key, _)| *key == name)?.1?;
            Some(found.to_string_lossy().into_owned())
        };
        assert_eq!(value("ROLES").as_deref(), Some("webchat"));
        assert_eq!(value("STREAM_PARTITIONS").as_deref(), Some("2"));
        assert_eq!(value("REDIS_URL").as_deref(), Some("redis://r/9"));
        assert_eq!(value("WEBCHAT_MESSAGES_PER_SECOND").as_deref(), Some("0"));
    }
}
