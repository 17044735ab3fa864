//! A client of sockets that keeps what comes in, for tests to wait for.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flowsdk_server::socket::client::{self, Frame, Packet, packet};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::{PATIENCE, log};

/// What has come in.
#[derive(Debug, Default)]
struct Inbox {
    /// Events but `message`, not yet taken.
    events: Vec<(String, Value)>,
    /// Every `message`, in the order of arrival.
    messages: Vec<Value>,
    /// Every event, taken or not.
    received: Vec<(String, Value)>,
    acks: HashMap<u64, Value>,
    /// The server has answered the CONNECT.
    connected: bool,
    closed: bool,
}

/// How a client behaves.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Never acknowledges a message.
    pub silent: bool,
    /// Another socket than that of visitors, such as `desk`.
    pub socket: Option<&'static str>,
    /// Added to the query.
    pub query: String,
    /// The origin of the page.
    pub origin: Option<String>,
}

/// A connection; it is cut when dropped.
pub struct Client {
    inbox: Arc<watch::Sender<Inbox>>,
    out: mpsc::UnboundedSender<Frame>,
    next_ack: AtomicU64,
    /// Messages taken by [`Client::texts`].
    taken: usize,
    task: JoinHandle<()>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Client {
    /// Connects and sends CONNECT with `auth`; `None` when nobody is there.
    pub async fn try_open(addr: SocketAddr, auth: &str, manner: Manner) -> Option<Self> {
        let (socket, query) = (manner.socket.unwrap_or("webchat"), &manner.query);
        let url = format!("ws://{addr}/{socket}/socket.io/?EIO=4&transport=websocket{query}");
        // Without Nagle's delay, as browsers connect.
        let mut request = url.into_client_request().ok()?;
        if let Some(origin) = &manner.origin {
            request.headers_mut().insert("origin", origin.parse().ok()?);
        }
        let connecting = tokio_tungstenite::connect_async_with_config(request, None, true);
        let (stream, _) = tokio::time::timeout(PATIENCE, connecting).await.ok()?.ok()?;
        let (mut reading, mut writing) = client::open(stream, auth).await.ok()?;
        let (out, mut outgoing) = mpsc::unbounded_channel::<Frame>();
        let inbox = Arc::new(watch::Sender::new(Inbox::default()));
        let (received, answers) = (Arc::clone(&inbox), out.clone());
        let task = tokio::spawn(async move {
            let sending = async {
                while let Some(frame) = outgoing.recv().await {
                    if writing.send(frame).await.is_err() {
                        return;
                    }
                }
            };
            let receiving = async {
                while let Some(packet) = reading.next().await {
                    receive(packet, &received, &answers, &manner);
                }
            };
            // What the server sent before it hung up is still read.
            tokio::pin!(sending, receiving);
            tokio::select! {
                () = &mut receiving => {}
                () = &mut sending => receiving.await,
            }
            received.send_modify(|inbox| inbox.closed = true);
        });
        let client = Self { inbox, out, next_ack: AtomicU64::new(0), taken: 0, task };
        // Before the answer to its CONNECT a client may send nothing.
        client.wait_within(PATIENCE, |inbox| (inbox.connected || inbox.closed).then_some(())).await;
        Some(client)
    }

    /// Connects and sends CONNECT with `auth`.
    pub async fn open_as(addr: SocketAddr, auth: Value, manner: Manner) -> Self {
        Self::try_open(addr, &auth.to_string(), manner).await.expect("somebody listens")
    }

    /// Connects and must be let in; the payload of `auth_ok`.
    pub async fn enter(addr: SocketAddr, auth: Value) -> (Self, Value) {
        Self::enter_as(addr, auth, Manner::default()).await
    }

    /// The same in another manner.
    pub async fn enter_as(addr: SocketAddr, auth: Value, manner: Manner) -> (Self, Value) {
        let client = Self::open_as(addr, auth, manner).await;
        let answer = client.answer().await;
        match answer {
            (name, ok) if name == "auth_ok" => (client, ok),
            other => panic!("not let in: {other:?}\n{}", log::faults()),
        }
    }

    /// Connects and must be refused: the code, once the server has hung up.
    pub async fn refused(addr: SocketAddr, auth: &str, manner: Manner) -> String {
        let client = Self::try_open(addr, auth, manner).await.expect("somebody listens");
        let (name, payload) = client.answer().await;
        assert_eq!((name.as_str(), &payload["message"]), ("auth_error", &json!("erro interno")), "{payload}");
        client.closed().await;
        assert!(client.event_now("auth_ok").is_none() && client.messages().is_empty());
        payload["code"].as_str().unwrap().to_owned()
    }

    /// `auth_ok` or `auth_error`.
    pub async fn answer(&self) -> (String, Value) {
        self.wait("an answer to the handshake", |inbox| {
            let at = inbox.events.iter().position(|(name, _)| name.starts_with("auth_"))?;
            Some(inbox.events.remove(at))
        })
        .await
    }

    /// The same; `None` when the connection ends before.
    pub async fn try_answer(&self) -> Option<(String, Value)> {
        self.wait_within(PATIENCE, |inbox| {
            let at = inbox.events.iter().position(|(name, _)| name.starts_with("auth_"));
            match at {
                Some(at) => Some(Some(inbox.events.remove(at))),
                None => inbox.closed.then_some(None),
            }
        })
        .await
        .flatten()
    }

    /// Waits until `find` finds something.
    async fn wait<T>(&self, what: &str, find: impl Fn(&mut Inbox) -> Option<T>) -> T {
        match self.wait_within(PATIENCE, find).await {
            Some(found) => found,
            None => panic!("did not come: {what}; {:?}", *self.inbox.borrow()),
        }
    }

    async fn wait_within<T>(&self, limit: Duration, find: impl Fn(&mut Inbox) -> Option<T>) -> Option<T> {
        let mut changes = self.inbox.subscribe();
        let waiting = async {
            loop {
                let mut found = None;
                self.inbox.send_if_modified(|inbox| {
                    found = find(inbox);
                    false
                });
                if found.is_some() || changes.changed().await.is_err() {
                    return found;
                }
            }
        };
        tokio::time::timeout(limit, waiting).await.ok().flatten()
    }

    /// The names of events that were not taken, in their order.
    pub fn names(&self) -> Vec<String> {
        self.inbox.borrow().events.iter().map(|(name, _)| name.clone()).collect()
    }

    fn event_now(&self, name: &str) -> Option<Value> {
        let inbox = self.inbox.borrow();
        let found = inbox.events.iter().find(|(known, _)| known == name);
        found.map(|(_, payload)| payload.clone())
    }

    /// Waits until somebody types, and returns the payload.
    pub async fn typing(&self) -> Value {
        self.event("typing").await
    }

    /// Waits until the session has another owner, and returns the payload.
    pub async fn session(&self) -> Value {
        self.event("session").await
    }

    /// Waits for the first event of this name that was not taken, and returns its payload.
    pub async fn event(&self, wanted: &str) -> Value {
        self.wait(wanted, |inbox| {
            let at = inbox.events.iter().position(|(name, _)| name == wanted)?;
            Some(inbox.events.remove(at).1)
        })
        .await
    }

    /// Waits until the server has hung up.
    pub async fn closed(&self) {
        self.wait("the end of the connection", |inbox| inbox.closed.then_some(())).await;
    }

    /// Whether the connection is over.
    pub fn is_closed(&self) -> bool {
        self.inbox.borrow().closed
    }

    /// Sends a frame as it is.
    pub fn raw(&self, frame: Frame) {
        let _ = self.out.send(frame);
    }

    /// Emits without asking for an answer.
    pub fn send(&self, event: &str, payload: &Value) {
        self.raw(Frame::text(packet::event(None, &json!([event, payload]).to_string())));
    }

    /// Emits and gives the number of the answer.
    pub fn emit_later(&self, event: &str, payload: &Value) -> u64 {
        self.emit_raw(&json!([event, payload]).to_string())
    }

    /// The same with the text of name and payload.
    pub fn emit_raw(&self, arguments: &str) -> u64 {
        let id = self.next_ack.fetch_add(1, Ordering::SeqCst);
        self.raw(Frame::text(packet::event(Some(id), arguments)));
        id
    }

    /// Waits for an answer; `None` when the connection ends before.
    pub async fn try_ack(&self, id: u64) -> Option<Value> {
        self.wait_within(PATIENCE, |inbox| match inbox.acks.remove(&id) {
            Some(ack) => Some(Some(ack)),
            None => inbox.closed.then_some(None),
        })
        .await
        .flatten()
    }

    /// An answer, if it is there.
    pub fn ack_now(&self, id: u64) -> Option<Value> {
        self.inbox.borrow().acks.get(&id).cloned()
    }

    /// Waits until a message with this text has come; everything up to it counts as taken.
    pub async fn until(&mut self, wanted: &str) {
        let found = self.wait(wanted, |inbox| {
            inbox.messages.iter().position(|message| message["text"]["body"] == wanted)
        });
        self.taken = found.await + 1;
    }

    /// Emits and waits for the answer.
    pub async fn emit(&self, event: &str, payload: &Value) -> Value {
        let id = self.emit_later(event, payload);
        self.try_ack(id).await.unwrap_or_else(|| panic!("no answer to {event} {payload}"))
    }

    /// Sends a text that must be taken; the id of the message.
    pub async fn say(&self, text: &str) -> String {
        let ack = self.emit("message", &json!({ "text": text })).await;
        assert_eq!(ack["ok"], true, "{ack}");
        ack["messageId"].as_str().unwrap().to_owned()
    }

    /// Everything that has come.
    pub fn messages(&self) -> Vec<Value> {
        self.inbox.borrow().messages.clone()
    }

    /// Every event that has come, taken or not, with its payload.
    pub fn received(&self) -> Vec<(String, Value)> {
        self.inbox.borrow().received.clone()
    }

    /// Waits until there are `count` messages in all, or the connection has ended.
    pub async fn gather(&self, count: usize) -> Vec<Value> {
        self.wait_within(PATIENCE, |inbox| (inbox.messages.len() >= count || inbox.closed).then_some(()))
            .await;
        self.messages()
    }

    /// The next `count` messages.
    pub async fn next_messages(&mut self, count: usize) -> Vec<Value> {
        let until = self.taken + count;
        self.wait(&format!("{count} more messages"), |inbox| (inbox.messages.len() >= until).then_some(()))
            .await;
        let messages = self.messages()[self.taken..until].to_vec();
        self.taken = until;
        messages
    }

    /// The texts of the next `count` messages.
    pub async fn texts(&mut self, count: usize) -> Vec<String> {
        self.next_messages(count).await.iter().map(text).collect()
    }

    /// Says something to the echo and asserts that its answer is the next message: nothing else came.
    pub async fn nothing_else(&mut self) {
        let mark = format!("marca {}", self.taken);
        self.say(&mark).await;
        assert_eq!(self.texts(1).await, [format!("eco {mark}")]);
    }
}

/// The text of a message.
pub fn text(message: &Value) -> String {
    message["text"]["body"].as_str().unwrap_or_else(|| panic!("no text: {message}")).to_owned()
}

/// The id of a message.
pub fn id(message: &Value) -> String {
    message["id"].as_str().unwrap().to_owned()
}

fn receive(
    packet: Packet,
    inbox: &watch::Sender<Inbox>,
    out: &mpsc::UnboundedSender<Frame>,
    manner: &Manner,
) {
    match packet {
        Packet::Ping => {
            let _ = out.send(Frame::text(packet::PONG));
        }
        Packet::Event { name, payload, ack } => {
            if let (Some(ack), false) = (ack, manner.silent) {
                let _ = out.send(Frame::text(packet::acknowledge(ack)));
            }
            inbox.send_modify(|inbox| {
                inbox.received.push((name.clone(), payload.clone()));
                match name.as_str() {
                    "message" => inbox.messages.push(payload),
                    _ => inbox.events.push((name, payload)),
                }
            });
        }
        Packet::Ack { id, payload } => inbox.send_modify(|inbox| {
            inbox.acks.insert(id, payload);
        }),
        Packet::Connected => inbox.send_modify(|inbox| inbox.connected = true),
        Packet::Left => inbox.send_modify(|inbox| inbox.closed = true),
        Packet::Refused(payload) => inbox.send_modify(|inbox| {
            inbox.connected = true;
            inbox.events.push(("connect_error".to_owned(), payload));
        }),
    }
}
