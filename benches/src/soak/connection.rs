//! A connection of a visitor: packets both ways, over a websocket or long polling.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::http::{self, Request};
use crate::load::Wire;

const PATH: &str = "/webchat/socket.io/?EIO=4&transport=";
/// Packets that may wait on either side.
const WAITING: usize = 256;
/// How long a poll may take: the server pings every 25 s.
const POLL: Duration = Duration::from_secs(40);
/// How long anything else over HTTP may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The separator of packets over long polling.
const SEPARATOR: char = '\u{1e}';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Websocket,
    Polling,
}

/// An open connection. Dropping it hangs up at once.
pub(super) struct Connection {
    incoming: mpsc::Receiver<String>,
    outgoing: mpsc::Sender<String>,
    _tasks: JoinSet<()>,
}

impl Connection {
    /// Connects; the server has said its `open` packet then.
    pub(super) async fn open(address: SocketAddr, transport: Transport) -> Result<Self> {
        let (hears, incoming) = mpsc::channel(WAITING);
        let (outgoing, says) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        match transport {
            Transport::Websocket => {
                let wire = Wire::open(address, &format!("{PATH}websocket")).await?;
                tasks.spawn(websocket(wire, hears, says));
            }
            Transport::Polling => {
                let opened =
                    exchange(address, PATIENCE, &Request::new("GET", &polling(None), None, None)).await?;
                let open: Value = serde_json::from_str(opened.trim_start_matches('0')).context(opened)?;
                let session = open["sid"].as_str().context("no sid")?.to_owned();
                hears.send(format!("0{open}")).await?;
                tasks.spawn(write_polls(address, session.clone(), says));
                tasks.spawn(read_polls(address, session, hears, outgoing.clone()));
            }
        }
        let mut connection = Self { incoming, outgoing, _tasks: tasks };
        match connection.next().await {
            Some(packet) if packet.starts_with('0') => Ok(connection),
            other => bail!("no open packet: {other:?}"),
        }
    }

    /// Sends a packet, if the connection is still there.
    pub(super) async fn send(&self, packet: String) {
        let _hung_up = self.outgoing.send(packet).await;
    }

    /// Waits for the next packet; `None` is the end. Nothing is lost when it is dropped in between.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.incoming.recv().await
    }
}

async fn websocket(mut wire: Wire, hears: mpsc::Sender<String>, mut says: mpsc::Receiver<String>) {
    loop {
        while let Some(range) = wire.next() {
            let packet = wire.text(range).to_owned();
            if packet == "2" {
                wire.push("3");
            } else if hears.send(packet).await.is_err() {
                return;
            }
        }
        if wire.flush().await.is_err() {
            return;
        }
        tokio::select! {
            filled = wire.fill() => if filled.is_err() { return },
            said = says.recv() => match said {
                Some(packet) => wire.push(&packet),
                None => return,
            }
        }
    }
}

fn polling(session: Option<&str>) -> String {
    session.map_or_else(|| format!("{PATH}polling"), |session| format!("{PATH}polling&sid={session}"))
}

async fn write_polls(address: SocketAddr, session: String, mut says: mpsc::Receiver<String>) {
    while let Some(packet) = says.recv().await {
        let request = Request::with_text("POST", &polling(Some(&session)), &packet);
        if exchange(address, PATIENCE, &request).await.is_err() {
            // Dropping `says` tells the reader.
            return;
        }
    }
}

async fn read_polls(
    address: SocketAddr,
    session: String,
    hears: mpsc::Sender<String>,
    says: mpsc::Sender<String>,
) {
    let request = Request::new("GET", &polling(Some(&session)), None, None);
    loop {
        let polled = tokio::select! {
            polled = exchange(address, POLL, &request) => polled,
            () = says.closed() => return,
        };
        let Ok(body) = polled else { return };
        for packet in body.split(SEPARATOR) {
            let done = match packet {
                "2" => says.send("3".to_owned()).await.is_err(),
                packet => hears.send(packet.to_owned()).await.is_err(),
            };
            if done {
                return;
            }
        }
    }
}

/// One request on a connection of its own, which must be answered with 200.
async fn exchange(address: SocketAddr, patience: Duration, request: &Request) -> Result<String> {
    let ask = async {
        let mut connection = http::Connection::open(address).await?;
        let status = connection.ask(request).await?;
        let body = String::from_utf8_lossy(connection.body()).into_owned();
        if status != 200 {
            bail!("{status} {body}");
        }
        Ok(body)
    };
    tokio::time::timeout(patience, ask).await.context("no answer")?
}
