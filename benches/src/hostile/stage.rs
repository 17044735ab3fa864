//! The server of a trial with two tenants, each of them a router with an API client confined to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::routing::get;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::Options;
use crate::attacks::{Target, Tenant, definitions};
use crate::outside::Outside;
use crate::process::{self, Server};
use crate::services::Database;
use crate::webchat::seed::CRYPTO_SECRET;

const ADMIN: &str = "admin@trial.example";
const PASSWORD: &str = "Uma-senha-1234567";

/// A running server with its tenants.
pub(super) struct Stage {
    pub(super) address: SocketAddr,
    /// The tenant whose visitors talk.
    pub(super) other: Tenant,
    /// A server that accepts connections and answers nothing.
    pub(super) silent: Outside,
    pub(super) target: Target,
    server: Server,
    database: Option<Database>,
    log: PathBuf,
    /// The server that the flow of the other tenant asks.
    _quick: Outside,
}

impl Stage {
    /// Starts a server with default limits, and makes the other tenant.
    pub(super) async fn set(program: &Path, folder: &Path, options: &Options) -> Result<Self> {
        let address = process::free_address()?;
        let log = folder.join("server.log");
        let (database, url, redis) = if options.production {
            let database = options.services.database().await?;
            let url = database.url.clone();
            (Some(database), url, Some(options.services.emptied_redis()?))
        } else {
            (None, format!("sqlite:{}", folder.join("trial.db").display()), None)
        };
        let mut command = Command::new(program);
        command
            .arg("serve")
            .env("DATABASE_URL", url)
            .env("LISTEN_ADDR", address.to_string())
            .env("CRYPTO_SECRET", CRYPTO_SECRET)
            .env("JWT_ACCESS_SECRET", "the access secret of the trial")
            .env("JWT_REFRESH_SECRET", "the refresh secret of the trial")
            .env("ADMIN_EMAIL", ADMIN)
            .env("ADMIN_PASSWORD", PASSWORD)
            .env("SMS_DRIVER", "none")
            .env("TRUSTED_PROXIES", "1")
            .env("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1")
            .env_remove("REDIS_URL")
            .stdout(Stdio::null());
        if let Some(redis) = redis {
            command.env("REDIS_URL", redis);
        }
        let mut server = Server::spawn(&mut command, &log)?;
        let bytes = options.memory << 20;
        let pid = i32::try_from(server.pid()).ok().and_then(Pid::from_raw);
        prlimit(pid, Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        server.until(|| process::answers_ok(address, "/readyz")).with_context(said)?;
        let (quick, silent) = (Outside::start(quick()).await?, Outside::silent().await?);
        let target = Target::enter(vec![address], ADMIN, PASSWORD).await?;
        let other = target.tenant("The other", &definitions::talk(quick.address)).await?;
        Ok(Self { address, other, silent, target, server, database, log, _quick: quick })
    }

    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Ends everything, and returns the last lines of the server's log.
    pub(super) async fn strike(self) -> String {
        drop(self.server);
        if let Some(database) = self.database {
            let _left_behind = database.remove().await;
        }
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

/// Answers at once.
fn quick() -> Router {
    Router::new().route("/", get(async || axum::Json(42)))
}
