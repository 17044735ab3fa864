//! The contenders, and how each is started and checked.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use flowsdk_store::sql::Synchronous;
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use serde_json::json;

use super::seed::{self, CRYPTO_SECRET, Channel, Opening};
use crate::load::{self, Entrance};
use crate::machine::Cores;
use crate::peers;
use crate::process::{self, Server};
use crate::report;
use crate::trips::{self, Rows, ring};

/// The contenders of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contender {
    /// `flowsdk-server serve`.
    #[value(name = "flowsdk")]
    FlowSdk,
    /// The same with commits as the peers have them.
    #[value(name = "flowsdk-normal")]
    FlowSdkNormal,
    /// Socket.IO and better-sqlite3 on Node.
    Node,
    /// The same with ids that begin with the time and a larger WAL.
    NodeTuned,
    /// An echo on the socket library that the server uses.
    RawSocket,
    /// The statements of a turn, straight on SQLite.
    RawStorage,
}

impl report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::FlowSdkNormal => "FlowSDK, `synchronous=NORMAL`",
            Self::Node => "Node + better-sqlite3",
            Self::NodeTuned => "the same, tuned",
            Self::RawSocket => "raw: socket echo",
            Self::RawStorage => "raw: statements",
        }
    }
}

impl trips::Contender for Contender {
    /// The echo of the raw cost handles its events at the same time.
    fn keeps_order(self) -> bool {
        self != Self::RawSocket
    }
}

impl Contender {
    pub(crate) const ALL: [Self; 6] =
        [Self::FlowSdk, Self::FlowSdkNormal, Self::Node, Self::NodeTuned, Self::RawSocket, Self::RawStorage];

    pub(crate) fn is_ours(self) -> bool {
        matches!(self, Self::FlowSdk | Self::FlowSdkNormal)
    }

    pub(crate) fn is_node(self) -> bool {
        matches!(self, Self::Node | Self::NodeTuned)
    }

    /// Starts it on an empty database in `folder`, and waits until it takes visitors.
    pub(crate) async fn start(self, server: &Path, folder: &Path, cores: Cores) -> Result<Stand> {
        let address = process::free_address()?;
        let database = folder.join("race.db");
        let log = folder.join("server.log");
        let channel = match self {
            Self::FlowSdk | Self::FlowSdkNormal => {
                Some(seed::seed(&seed::sqlite(&database), Opening::Token).await?)
            }
            _ => None,
        };
        let mut command = match self {
            Self::FlowSdk => our_server(server, &database, Synchronous::Full, address),
            Self::FlowSdkNormal => our_server(server, &database, Synchronous::Normal, address),
            Self::Node | Self::NodeTuned => node(&database, address, self == Self::NodeTuned),
            Self::RawSocket | Self::RawStorage => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["raw-socket", "--listen", &address.to_string()]);
                command
            }
        };
        command.stdout(std::process::Stdio::null());
        let mut running = Server::start(&mut command, cores, &log)?;
        let ready = running.until(|| match self {
            Self::FlowSdk | Self::FlowSdkNormal => process::answers_ok(address, "/readyz"),
            _ => process::listens(address),
        });
        ready.with_context(|| std::fs::read_to_string(&log).unwrap_or_default())?;
        Ok(Stand { contender: self, server: running, address, database, channel })
    }
}

/// `flowsdk-server serve` on a SQLite file, without limits on visitors.
pub(crate) fn our_server(
    server: &Path,
    database: &Path,
    synchronous: Synchronous,
    address: SocketAddr,
) -> Command {
    let waits = match synchronous {
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
    };
    let mut command = serve(server, &format!("sqlite:{}?synchronous={waits}", database.display()), address);
    without_limits(&mut command);
    command
}

/// Takes the limits on visitors away.
pub(crate) fn without_limits(command: &mut Command) {
    for limit in VISITOR_LIMITS {
        command.env(limit, "0");
    }
}

/// The settings that bound what one address or one visitor may do.
const VISITOR_LIMITS: [&str; 4] = [
    "WEBCHAT_MESSAGES_PER_SECOND",
    "WEBCHAT_NEW_VISITS_PER_MINUTE",
    "WEBCHAT_KEY_CHECKS_PER_MINUTE",
    "WEBCHAT_SOCKETS_PER_VISITOR",
];

/// `flowsdk-server serve` with the limits that it has by itself.
pub(crate) fn serve(server: &Path, database: &str, address: SocketAddr) -> Command {
    let mut command = Command::new(server);
    for limit in VISITOR_LIMITS {
        command.env_remove(limit);
    }
    command
        .arg("serve")
        .env("DATABASE_URL", database)
        .env("LISTEN_ADDR", address.to_string())
        .env("CRYPTO_SECRET", CRYPTO_SECRET)
        .env("JWT_ACCESS_SECRET", "the access secret of the race")
        .env("JWT_REFRESH_SECRET", "the refresh secret of the race")
        .env_remove("REDIS_URL");
    command
}

/// The peer on Node.
pub(crate) fn node(database: &Path, address: SocketAddr, tuned: bool) -> Command {
    let mut command = Command::new("node");
    command.arg(peers::folder().join("webchat.mjs")).arg(address.port().to_string()).arg(database);
    command.env("NODE_ENV", "production").env("TUNED", if tuned { "1" } else { "0" });
    command
}

/// A contender that takes visitors.
#[derive(Debug)]
pub(crate) struct Stand {
    contender: Contender,
    server: Server,
    address: SocketAddr,
    database: PathBuf,
    channel: Option<Channel>,
}

impl trips::Stand for Stand {
    fn pids(&self) -> Vec<u32> {
        vec![self.server.pid()]
    }

    fn entrances(&self) -> Vec<Entrance> {
        let path = if self.channel.is_some() { "/webchat/socket.io/" } else { "/socket.io/" };
        vec![load::entrance(self.address, path)]
    }

    fn auth(&self, visitor: &str) -> Result<String> {
        match &self.channel {
            Some(channel) => channel.auth(visitor),
            None => Ok(json!({ "channelId": "c1", "userId": visitor }).to_string()),
        }
    }

    fn answer(&self) -> fn(u64, &str) -> String {
        match self.contender {
            Contender::FlowSdk | Contender::FlowSdkNormal => |n, text| ring(n, text, text),
            Contender::Node | Contender::NodeTuned => |n, text| ring(n, text, &n.to_string()),
            Contender::RawSocket | Contender::RawStorage => |_, text| text.to_owned(),
        }
    }
}

impl Stand {
    /// Ends the server and counts its stored rows, if it stores.
    pub(crate) fn finish(self) -> Result<Option<Rows>> {
        self.server.stop()?;
        let column = match self.contender {
            Contender::FlowSdk | Contender::FlowSdkNormal => "direction",
            Contender::Node | Contender::NodeTuned => "dir",
            Contender::RawSocket | Contender::RawStorage => return Ok(None),
        };
        let database = Connection::open_with_flags(&self.database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let count = |direction: &str| {
            let sql = format!("SELECT COUNT(*) FROM message WHERE {column} = ?1");
            database.query_row(&sql, [direction], |row| row.get::<_, i64>(0))
        };
        Ok(Some(Rows { inbound: u64::try_from(count("in")?)?, outbound: u64::try_from(count("out")?)? }))
    }
}
