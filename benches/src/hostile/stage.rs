//! The server of a trial with two tenants, each of them a router with an API client confined to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::{Options, definitions};
use crate::http::{Connection, Request};
use crate::process::{self, Server};
use crate::services::Database;
use crate::webchat::seed::{CRYPTO_SECRET, Channel};

const ADMIN: &str = "admin@trial.example";
const PASSWORD: &str = "Uma-senha-1234567";

/// A running server with its tenants.
pub(super) struct Stage {
    pub(super) address: SocketAddr,
    /// The tenant whose visitors talk.
    pub(super) other: Tenant,
    /// The address of a server that accepts connections and answers nothing.
    pub(super) silent: SocketAddr,
    admin: String,
    server: Server,
    database: Option<Database>,
    log: PathBuf,
    /// Accept connections for as long as they live.
    _outside: [Outside; 2],
}

/// A tenant: a router, and a token that reaches nothing else.
pub(super) struct Tenant {
    pub(super) router: String,
    pub(super) token: String,
    pub(super) channel: Channel,
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
        let (quick, silent) = (Outside::start(true).await?, Outside::start(false).await?);
        let admin = log_in(address).await?;
        let flow = definitions::talk(quick.address);
        let other = Tenant::make(address, &admin, "The other", &flow).await?;
        let silent_address = silent.address;
        let _outside = [quick, silent];
        Ok(Self { address, other, silent: silent_address, admin, server, database, log, _outside })
    }

    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Makes one more tenant, whose visitors run `flow`.
    pub(super) async fn tenant(&self, name: &str, flow: &Value) -> Result<Tenant> {
        Tenant::make(self.address, &self.admin, name, flow).await
    }

    /// Makes one more channel of `tenant`, whose visitors run `flow`.
    pub(super) async fn channel(&self, tenant: &Tenant, name: &str, flow: &Value) -> Result<Channel> {
        let mut api = Connection::open(self.address).await?;
        channel(&mut api, &self.admin, &tenant.router, name, flow).await
    }

    /// Counts the frozen sessions of the other tenant.
    pub(super) async fn frozen(&self) -> Result<u64> {
        let path = format!("/sessions/frozen?routerId={}&limit=200", self.other.router);
        let mut api = Connection::open(self.address).await?;
        let page = api.json(&Request::new("GET", &path, Some(&self.admin), None)).await?;
        Ok(page["items"].as_array().context("no items")?.len() as u64)
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

impl Tenant {
    async fn make(address: SocketAddr, admin: &str, name: &str, flow: &Value) -> Result<Self> {
        let mut api = Connection::open(address).await?;
        let router = post(&mut api, admin, "/routers", &json!({ "name": name })).await?;
        let router = id(&router)?;
        let rights = ["routers", "flows", "sessions", "contacts"];
        let rights: Vec<Value> = rights
            .iter()
            .map(|resource| json!({ "resource": resource, "actions": ["read", "write"] }))
            .collect();
        let client = json!({ "name": name, "permissions": rights, "routerIds": [router] });
        let client = post(&mut api, admin, "/api-clients", &client).await?;
        let token = client["token"].as_str().context("no token")?.to_owned();
        let channel = channel(&mut api, admin, &router, name, flow).await?;
        Ok(Self { router, token, channel })
    }
}

async fn log_in(address: SocketAddr) -> Result<String> {
    let body = json!({ "email": ADMIN, "password": PASSWORD });
    let mut api = Connection::open(address).await?;
    let entered = api.json(&Request::new("POST", "/auth/login", None, Some(&body))).await?;
    Ok(entered["accessToken"].as_str().context("no accessToken")?.to_owned())
}

/// Makes and publishes `flow`, and a closed channel that runs it.
async fn channel(
    api: &mut Connection,
    admin: &str,
    router: &str,
    name: &str,
    flow: &Value,
) -> Result<Channel> {
    let flow = json!({ "routerId": router, "name": name, "definition": flow });
    let flow = id(&post(api, admin, "/flows", &flow).await?)?;
    api.json(&Request::new("POST", &format!("/flows/{flow}/publish"), Some(admin), None)).await?;
    let channel = json!({ "routerId": router, "name": name, "initialFlowId": flow });
    let channel = id(&post(api, admin, "/webchat/channels", &channel).await?)?;
    let path = format!("/webchat/channels/{channel}/embed-secret");
    let made = api.json(&Request::new("POST", &path, Some(admin), None)).await?;
    let secret = made["embedSecret"].as_str().context("no embedSecret")?;
    Ok(Channel::new(channel.parse()?, secret))
}

async fn post(api: &mut Connection, token: &str, path: &str, body: &Value) -> Result<Value> {
    api.json(&Request::new("POST", path, Some(token), Some(body))).await
}

fn id(made: &Value) -> Result<String> {
    Ok(made["id"].as_str().context("no id")?.to_owned())
}

/// A server outside, to which flows send requests. Dropping it ends it.
struct Outside {
    address: SocketAddr,
    _accepting: JoinSet<()>,
}

impl Outside {
    /// Starts one that answers at once, or never.
    async fn start(answers: bool) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(serve(stream, answers));
                while open.try_join_next().is_some() {}
            }
        });
        Ok(Self { address, _accepting: accepting })
    }
}

/// Reads requests, and answers them or not.
async fn serve(mut stream: TcpStream, answers: bool) {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n42";
    let mut asked = [0; 4096];
    while stream.read(&mut asked).await.is_ok_and(|bytes| bytes > 0) {
        if answers && stream.write_all(answer).await.is_err() {
            return;
        }
    }
}
