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

use super::seed::{self, CRYPTO_SECRET, Channel};
use crate::load::{self, Entrance};
use crate::machine::Cores;
use crate::peers;
use crate::process::{self, Server};

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

impl Contender {
    pub(crate) const ALL: [Self; 6] =
        [Self::FlowSdk, Self::FlowSdkNormal, Self::Node, Self::NodeTuned, Self::RawSocket, Self::RawStorage];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::FlowSdkNormal => "FlowSDK, `synchronous=NORMAL`",
            Self::Node => "Node + better-sqlite3",
            Self::NodeTuned => "the same, tuned",
            Self::RawSocket => "raw: socket echo",
            Self::RawStorage => "raw: statements",
        }
    }

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
            Self::FlowSdk | Self::FlowSdkNormal => Some(seed::seed(&database).await?),
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

/// `flowsdk-server serve` without limits on visitors.
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
    let mut command = Command::new(server);
    command
        .arg("serve")
        .env("DATABASE_URL", format!("sqlite:{}?synchronous={waits}", database.display()))
        .env("LISTEN_ADDR", address.to_string())
        .env("CRYPTO_SECRET", CRYPTO_SECRET)
        .env("JWT_ACCESS_SECRET", "the access secret of the race")
        .env("JWT_REFRESH_SECRET", "the refresh secret of the race")
        .env("WEBCHAT_MESSAGES_PER_SECOND", "0")
        .env("WEBCHAT_NEW_VISITS_PER_MINUTE", "0")
        .env("WEBCHAT_SOCKETS_PER_VISITOR", "0");
    command
}

fn node(database: &Path, address: SocketAddr, tuned: bool) -> Command {
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

/// The rows that a contender has stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) inbound: u64,
    pub(crate) outbound: u64,
}

impl Stand {
    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    pub(crate) fn entrance(&self) -> Entrance {
        let path = if self.channel.is_some() { "/webchat/socket.io/" } else { "/socket.io/" };
        load::entrance(self.address, path)
    }

    /// Returns the `auth` of a visitor.
    pub(crate) fn auth(&self, visitor: &str) -> Result<String> {
        match &self.channel {
            Some(channel) => channel.auth(visitor),
            None => Ok(json!({ "channelId": "c1", "userId": visitor }).to_string()),
        }
    }

    /// The right answer to message `n` (from 1) of a visitor.
    pub(crate) fn answer(&self) -> fn(u64, &str) -> String {
        match self.contender {
            Contender::FlowSdk | Contender::FlowSdkNormal => |n, text| ring(n, text, text),
            Contender::Node | Contender::NodeTuned => |n, text| ring(n, text, &n.to_string()),
            Contender::RawSocket | Contender::RawStorage => |_, text| text.to_owned(),
        }
    }

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

/// The flow of the race: three blocks in a ring.
pub(crate) fn ring(n: u64, text: &str, second: &str) -> String {
    match (n - 1) % 3 {
        0 => format!("Olá Flow Chat, você disse: {text}"),
        1 => format!("Passo 2: {text} ({second})"),
        _ => format!("Fim do passo 3, Flow Chat: {text}"),
    }
}
