//! The contenders, and how each is started, spoken to and checked.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use flowsdk_store::sql::Synchronous;
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use serde_json::json;

use super::channel::Channel;
use super::chat;
use crate::http::Request;
use crate::load::{self, Outcome};
use crate::machine::Cores;
use crate::peers;
use crate::process::{self, Server};
use crate::report;
use crate::trips::ring;
use crate::webchat::contender::our_server;
use crate::webchat::seed::{self, Opening};

/// The contenders of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contender {
    /// `flowsdk-server serve`, over the socket of the web chat.
    Socket,
    /// The same with commits as the peer has them.
    SocketNormal,
    /// `flowsdk-server serve`, over HTTP to its test channel.
    Http,
    /// The same with commits as the peer has them.
    HttpNormal,
    /// Bot Framework SDK on Express, its state in SQLite; it posts its answers to its channel.
    Botbuilder,
    /// The same, with its answers in the answer to the request.
    BotbuilderReplies,
}

impl report::Contender for Contender {
    fn name(self) -> &'static str {
        match self {
            Self::Socket => "FlowSDK, web chat socket",
            Self::SocketNormal => "the same, `synchronous=NORMAL`",
            Self::Http => "FlowSDK, HTTP test channel",
            Self::HttpNormal => "the same, `synchronous=NORMAL`",
            Self::Botbuilder => "botbuilder + better-sqlite3, its channel",
            Self::BotbuilderReplies => "the same, `expectReplies`",
        }
    }
}

impl Contender {
    pub(crate) const ALL: [Self; 6] = [
        Self::Socket,
        Self::SocketNormal,
        Self::Http,
        Self::HttpNormal,
        Self::Botbuilder,
        Self::BotbuilderReplies,
    ];

    /// Returns whether it needs Node and its packages.
    pub(crate) fn is_peer(self) -> bool {
        matches!(self, Self::Botbuilder | Self::BotbuilderReplies)
    }

    /// Starts it on an empty database in `folder`.
    pub(crate) async fn start(self, server: &Path, folder: &Path, cores: Cores) -> Result<Stand> {
        let address = process::free_address()?;
        let database = folder.join("race.db");
        let log = folder.join("server.log");
        let channel = if self.is_peer() {
            None
        } else {
            Some(seed::seed(&seed::sqlite(&database), Opening::Token).await?)
        };
        let mut command = match self {
            Self::Socket | Self::Http => our_server(server, &database, Synchronous::Full, address),
            Self::SocketNormal | Self::HttpNormal => {
                our_server(server, &database, Synchronous::Normal, address)
            }
            Self::Botbuilder | Self::BotbuilderReplies => botbuilder(&database, address),
        };
        let mut running = Server::start(command.stdout(Stdio::null()), cores, &log)?;
        let ready = running.until(|| {
            if self.is_peer() { process::listens(address) } else { process::answers_ok(address, "/readyz") }
        });
        ready.with_context(|| std::fs::read_to_string(&log).unwrap_or_default())?;
        Ok(Stand { contender: self, server: running, address, database, channel })
    }
}

fn botbuilder(database: &Path, address: SocketAddr) -> Command {
    let mut command = Command::new("node");
    command.arg(peers::folder().join("bot.mjs")).arg(address.port().to_string()).arg(database);
    command.env("NODE_ENV", "production");
    command
}

/// A contender that answers.
#[derive(Debug)]
pub(crate) struct Stand {
    contender: Contender,
    server: Server,
    address: SocketAddr,
    database: PathBuf,
    channel: Option<seed::Channel>,
}

impl Stand {
    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Conversations with one message under way on each.
    pub(crate) async fn talk(&self, conversations: usize, window: Duration) -> Result<Outcome> {
        let answer: fn(u64, &str) -> String = match self.channel {
            Some(_) => |n, text| ring(n, text, text),
            None => bot_answer,
        };
        let pid = self.pid();
        let names = (0..conversations).map(|number| format!("n{number}"));
        if matches!(self.contender, Contender::Socket | Contender::SocketNormal) {
            let channel = self.channel.as_ref().context("a channel")?;
            return load::run(load::Plan {
                entrances: vec![load::entrance(self.address, "/webchat/socket.io/")],
                auths: names.map(|name| channel.auth(&name)).collect::<Result<_>>()?,
                pace: None,
                window,
                answer,
                pids: vec![pid],
                acknowledge: false,
            })
            .await;
        }
        let channel = match self.contender {
            Contender::Botbuilder => Some(Channel::open().await?),
            _ => None,
        };
        let url = channel.as_ref().map(Channel::url);
        let conversations = names
            .map(|name| Ok((name.clone(), self.requests(name, url.as_deref())?)))
            .collect::<Result<_>>()?;
        chat::run(chat::Plan { address: self.address, conversations, channel, answer, window, pid }).await
    }

    /// Returns the writer of one conversation's requests, whose answers go to `url` if there is one.
    fn requests(&self, name: String, url: Option<&str>) -> Result<chat::Requests> {
        let Some(channel) = &self.channel else {
            let url = url.map(str::to_owned);
            return Ok(Box::new(move |n, text| bot_request(&name, n, text, url.as_deref())));
        };
        let (token, channel) = (channel.token(&name)?, channel.id());
        Ok(Box::new(move |_, text| {
            let body = json!({ "text": text });
            Request::new("POST", "/webchat/test/messages", Some(&token), Some(&body))
                .with_header("x-channel-id", &channel)
        }))
    }

    /// Ends the server and counts the turns that it has stored.
    pub(crate) fn finish(self) -> Result<u64> {
        self.server.stop()?;
        let database = Connection::open_with_flags(&self.database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let sql = match self.contender {
            Contender::Botbuilder | Contender::BotbuilderReplies => {
                "SELECT SUM(json_extract(v, '$.flow.turns')) FROM kv"
            }
            // As many answers as messages, or none at all.
            _ => {
                "SELECT iif(SUM(direction = 'in') = SUM(direction = 'out'), SUM(direction = 'in'), 0) FROM message"
            }
        };
        Ok(u64::try_from(database.query_row(sql, [], |row| row.get::<_, i64>(0))?)?)
    }
}

fn bot_answer(n: u64, text: &str) -> String {
    match (n - 1) % 3 {
        0 => format!("Olá Flow Chat, você disse: {text}"),
        1 => format!("Passo 2: {text}"),
        _ => format!("Fim do passo 3, Flow Chat: {text}"),
    }
}

fn bot_request(conversation: &str, n: u64, text: &str, url: Option<&str>) -> Request {
    let mut body = json!({
        "type": "message", "id": n.to_string(), "channelId": "test", "from": { "id": conversation },
        "conversation": { "id": conversation }, "recipient": { "id": "bot" }, "text": text,
        "serviceUrl": url.unwrap_or("http://127.0.0.1:9"),
    });
    if url.is_none() {
        body["deliveryMode"] = "expectReplies".into();
    }
    Request::new("POST", "/api/messages", None, Some(&body))
}
