//! The contenders, and how each is started.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use flowsdk_store::sql::Synchronous;
use serde::Serialize;

use crate::load::{self, Entrance};
use crate::machine::Cores;
use crate::process::{self, Server};
use crate::report;
use crate::webchat::contender::{node, our_server, serve};

/// The contenders of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contender {
    /// `flowsdk-server serve` on a SQLite file.
    #[value(name = "flowsdk")]
    FlowSdk,
    /// Socket.IO on Node, which lets everybody in and stores nobody.
    Node,
}

impl Contender {
    pub(super) const ALL: [Self; 2] = [Self::FlowSdk, Self::Node];
}

impl report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::FlowSdk => "FlowSDK",
            Self::Node => "Node, Socket.IO alone",
        }
    }
}

/// The limits on visitors of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    /// None, since all visitors of the race have one address.
    Off,
    /// Those that it has by itself.
    Default,
}

/// A place where a server is started again and again, on one database and one address.
#[derive(Debug)]
pub(super) struct Site {
    contender: Contender,
    program: PathBuf,
    folder: PathBuf,
    address: SocketAddr,
    cores: Cores,
}

impl Site {
    pub(super) fn new(contender: Contender, program: &Path, folder: &Path, cores: Cores) -> Result<Self> {
        let address = process::free_address()?;
        Ok(Self { contender, program: program.to_owned(), folder: folder.to_owned(), address, cores })
    }

    /// The database of the server.
    pub(super) fn database(&self) -> PathBuf {
        self.folder.join("race.db")
    }

    pub(super) fn entrance(&self) -> Entrance {
        let path = match self.contender {
            Contender::FlowSdk => "/webchat/socket.io/",
            Contender::Node => "/socket.io/",
        };
        load::entrance(self.address, path)
    }

    /// Starts the server and waits until it is ready.
    pub(super) fn start(&self, limits: Limits) -> Result<Server> {
        let database = self.database();
        let mut command: Command = match (self.contender, limits) {
            (Contender::FlowSdk, Limits::Off) => {
                our_server(&self.program, &database, Synchronous::Full, self.address)
            }
            (Contender::FlowSdk, Limits::Default) => {
                serve(&self.program, &format!("sqlite:{}", database.display()), self.address)
            }
            (Contender::Node, _) => node(&database, self.address, false),
        };
        let log = self.folder.join("server.log");
        let mut running = Server::start(command.stdout(Stdio::null()), self.cores, &log)?;
        let ready = running.until(|| match self.contender {
            Contender::FlowSdk => process::answers_ok(self.address, "/readyz"),
            Contender::Node => process::listens(self.address),
        });
        ready.with_context(|| std::fs::read_to_string(&log).unwrap_or_default())?;
        Ok(running)
    }
}
