//! A visitor who writes, loses connections on purpose, comes back, and notes everything.

mod writing;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::connection::{Connection, Transport};
use super::packet::{self, Packet};
use super::record::{Identity, Seen, Visitor as Record};
use super::script;
use super::seed::Seeded;
use crate::random::Random;
use writing::ACK;

/// How long to wait for the connection and for `auth_ok`.
const ENTERING: Duration = Duration::from_secs(10);
/// The pauses between two actions, in milliseconds.
const PAUSES: (u64, u64) = (200, 1_600);

/// All that visitors share.
pub(super) struct Scene {
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) seeded: Seeded,
    /// Whether new messages are written; afterwards visitors only wait for the answers that they are owed.
    pub(super) writing: AtomicBool,
    pub(super) said: AtomicU64,
    pub(super) acknowledged: AtomicU64,
    pub(super) seen: AtomicU64,
}

/// A visitor at work.
pub(super) struct Visitor {
    scene: Arc<Scene>,
    record: Arc<Mutex<Record>>,
    random: Random,
    name: String,
    /// Comes with an embed token; otherwise anonymous.
    has_token: bool,
    /// The newest message by `seq`.
    last: Option<(u64, String)>,
    /// All messages before this one are acknowledged.
    settled_before: usize,
    /// Those after it that are acknowledged too.
    settled: HashSet<usize>,
    /// Answers that have not come.
    owed: HashSet<String>,
    connections: u32,
}

/// The end of a connection.
enum End {
    /// Come back after this time.
    Again(Duration),
    Done,
}

impl Visitor {
    pub(super) fn new(scene: Arc<Scene>, number: usize, random: Random) -> (Self, Arc<Mutex<Record>>) {
        let name = format!("v{number}");
        let record = Arc::new(Mutex::new(Record { name: name.clone(), ..Record::default() }));
        let visitor = Self {
            scene,
            record: Arc::clone(&record),
            random,
            name,
            has_token: number.is_multiple_of(2),
            last: None,
            settled: HashSet::new(),
            settled_before: 0,
            owed: HashSet::new(),
            connections: 0,
        };
        (visitor, record)
    }

    /// Writes and listens until the scene ends and nothing is owed any more.
    pub(super) async fn live(mut self) {
        while let End::Again(pause) = self.visit().await {
            tokio::time::sleep(pause).await;
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn surprise(&self, what: String) {
        self.record().surprises.push(what);
    }

    fn is_done(&self) -> bool {
        !self.scene.writing.load(Ordering::SeqCst)
            && self.owed.is_empty()
            && self.settled_before == self.record().said.len()
    }

    /// One connection, from its beginning to its end.
    async fn visit(&mut self) -> End {
        if self.is_done() {
            return End::Done;
        }
        let soon = self.random.millis(50, 1_000);
        let address = self.random.pick(&self.scene.addresses);
        let transport = if self.random.chance(25) { Transport::Polling } else { Transport::Websocket };
        let opening = tokio::time::timeout(ENTERING, Connection::open(address, transport));
        let Ok(Ok(connection)) = opening.await else { return End::Again(soon) };
        self.connections += 1;
        self.record().connections = self.connections;
        let mut open = Open {
            life: Instant::now() + self.random.millis(2_000, 20_000),
            connection,
            waiting: HashMap::new(),
            next_number: 0,
        };
        match tokio::time::timeout(ENTERING, self.enter(&mut open)).await {
            Ok(Ok(())) => self.stay(open).await,
            Ok(Err(pause)) => End::Again(pause),
            Err(_) => End::Again(soon),
        }
    }

    /// Introduces itself and waits to be let in; otherwise how long to stay away.
    async fn enter(&mut self, open: &mut Open) -> Result<(), Duration> {
        let soon = self.random.millis(50, 1_000);
        let auth = self.auth();
        open.connection.send(format!("40{auth}")).await;
        loop {
            let Some(text) = open.connection.next().await else { return Err(soon) };
            match Packet::parse(&text) {
                Packet::Event { name, payload, .. } if name == "auth_ok" => {
                    let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
                    let user = text("userId");
                    let channel = self.channel().to_owned();
                    let mut record = self.record();
                    record.session = Some(format!("wc-{channel}-{user}"));
                    let key = (!self.has_token).then(|| text("sessionKey"));
                    record.identity = Some(Identity { user, key });
                    return Ok(());
                }
                Packet::Event { name, payload, .. } if name == "auth_error" => {
                    // A token is signed anew for each connection, so an expired one is a surprise too.
                    if !matches!(payload["code"].as_str(), Some("unavailable" | "rate_limited")) {
                        self.surprise(format!("{auth} was answered {payload}"));
                    }
                    return Err(self.random.millis(2_000, 5_000));
                }
                Packet::Closed => return Err(soon),
                _ => {}
            }
        }
    }

    fn channel(&self) -> &str {
        if self.has_token { &self.scene.seeded.closed } else { &self.scene.seeded.open }
    }

    fn auth(&self) -> Value {
        let mut auth = json!({ "channelId": self.channel(), "since": "start" });
        if let Some((_, id)) = &self.last {
            auth["since"] = json!(id);
        }
        if self.has_token {
            auth["token"] = json!(self.scene.seeded.token(&self.name));
        } else if let Some(identity) = &self.record().identity {
            auth["userId"] = json!(identity.user);
            auth["sessionKey"] = json!(identity.key);
        }
        auth
    }

    /// Writes and listens until the connection ends, by itself or by the visitor's whim.
    async fn stay(&mut self, mut open: Open) -> End {
        let mut next_action = Instant::now() + self.random.millis(0, 500);
        loop {
            if self.is_done() {
                // Nobody is owed a message that still comes now.
                return End::Done;
            }
            tokio::select! {
                biased;
                packet = open.connection.next() => match packet.as_deref().map(Packet::parse) {
                    None | Some(Packet::Closed) => return End::Again(self.random.millis(0, 500)),
                    Some(Packet::Event { name, payload, ack }) if name == "message" => {
                        self.see(&payload);
                        if let Some(number) = ack {
                            open.connection.send(packet::ack(&number)).await;
                        }
                    }
                    Some(Packet::Ack { number, answer }) => {
                        if let Some((said, _)) = open.waiting.remove(&number) && self.settle(said, &answer) {
                            return End::Again(self.random.millis(0, 500));
                        }
                    }
                    Some(_) => {}
                },
                () = tokio::time::sleep_until(next_action.into()) => {
                    next_action = Instant::now() + self.random.millis(PAUSES.0, PAUSES.1);
                    let is_late = open.waiting.values().any(|(_, sent)| sent.elapsed() > ACK);
                    if is_late && self.random.chance(50) || Instant::now() > open.life {
                        return self.leave(open).await;
                    }
                    self.act(&mut open).await;
                    // Some go before the ack.
                    if self.random.chance(4) {
                        tokio::time::sleep(self.random.millis(0, 30)).await;
                        return self.leave(open).await;
                    }
                }
            }
        }
    }

    /// Says goodbye, or hangs up.
    async fn leave(&mut self, open: Open) -> End {
        if self.random.chance(50) {
            open.connection.send("41".to_owned()).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        End::Again(self.random.millis(0, 1_500))
    }

    fn see(&mut self, payload: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let seen = Seen {
            id: text(&payload["id"]),
            chat: text(&payload["chatId"]),
            seq: payload["seq"].as_u64().unwrap_or_default(),
            text: text(&payload["text"]["body"]),
            connection: self.connections,
        };
        self.owed.remove(script::answer_key(&seen.text));
        if self.last.as_ref().is_none_or(|(seq, _)| seen.seq > *seq) {
            self.last = Some((seen.seq, seen.id.clone()));
        }
        self.scene.seen.fetch_add(1, Ordering::Relaxed);
        self.record().seen.push(seen);
    }
}

/// A connection on which the visitor was let in.
struct Open {
    connection: Connection,
    /// Until when the visitor wants to stay.
    life: Instant,
    /// Messages without their ack, by the number of the packet, and when they were sent.
    waiting: HashMap<u64, (usize, Instant)>,
    next_number: u64,
}
