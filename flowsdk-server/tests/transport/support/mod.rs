//! A server with a handler that records, and two bare clients.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "a failed step fails the test")]

pub mod http;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::Router;
use flowsdk_server::{
    serve::{ServeConfig, Shutdown, serve},
    socket::{self, Event, EventHandler, Front, OrderedConfig, SocketLimits},
};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use socketioxide::{SocketIo, extract::SocketRef, socket::DisconnectReason};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, tungstenite::Message};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What the handler has seen.
#[derive(Default)]
pub struct State {
    pub seen: Mutex<Vec<u64>>,
    pub started: AtomicUsize,
    pub joined: AtomicUsize,
    /// Clients that nobody waits for at the gate of the connect any more.
    pub given_up: AtomicUsize,
    pub left: AtomicUsize,
    pub gate: Notify,
}

struct Recorder(Arc<State>);

/// Counts where it ends.
struct Ended<'a>(&'a AtomicUsize);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl EventHandler for Recorder {
    async fn on_connect(&self, _: &SocketRef, auth: Value) {
        if auth["waits"] == true {
            let _ended = Ended(&self.0.given_up);
            self.0.started.fetch_add(1, Ordering::SeqCst);
            self.0.gate.notified().await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await; // events arrive meanwhile
        self.0.joined.fetch_add(1, Ordering::SeqCst);
    }

    async fn on_event(&self, _: &SocketRef, event: Event) {
        self.0.started.fetch_add(1, Ordering::SeqCst);
        match event.name.as_str() {
            "gate" => self.0.gate.notified().await,
            "slow" => {
                tokio::time::sleep(Duration::from_millis(event.payload["ms"].as_u64().unwrap_or(0))).await
            }
            "panic" => panic!("asked to"),
            _ => {}
        }
        self.0.seen.lock().unwrap().extend(event.payload["n"].as_u64());
        let lengths: Vec<usize> = event.attachments.iter().map(|part| part.len()).collect();
        if let Some(ack) = event.ack {
            let answer =
                if lengths.is_empty() { json!({ "ok": true }) } else { json!({ "lengths": lengths }) };
            ack.send(&answer).ok();
        }
    }

    async fn on_disconnect(&self, _: &SocketRef, _: DisconnectReason) {
        self.0.left.fetch_add(1, Ordering::SeqCst);
    }
}

/// A running server.
pub struct Server {
    pub addr: SocketAddr,
    pub io: SocketIo,
    pub state: Arc<State>,
    pub tracker: TaskTracker,
    pub token: CancellationToken,
}

impl Server {
    pub async fn start(config: OrderedConfig) -> Self {
        Self::start_with(config, ServeConfig::default(), Router::new()).await
    }

    pub async fn start_with(config: OrderedConfig, serving: ServeConfig, app: Router) -> Self {
        let (state, tracker, token) =
            (Arc::new(State::default()), TaskTracker::new(), CancellationToken::new());
        let limits = SocketLimits { max_buffer_size: 2048, ..SocketLimits::default() };
        let (service, io) = socket::builder(&limits).build_svc();
        io.ns("/", socket::in_order(&tracker, config, Recorder(state.clone())));
        let app = app.route_service("/socket.io/", Front::new(service));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        let shutdown = Shutdown {
            token: token.clone(),
            sockets_closed: CancellationToken::new(),
            tracker: tracker.clone(),
            drain: Duration::from_millis(500),
        };
        tracker.spawn(serve(listener, app, serving, shutdown));
        Self { addr, io, state, tracker, token }
    }

    pub fn seen(&self) -> Vec<u64> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Shuts down and expects every task to end.
    pub async fn stop(self) {
        self.token.cancel();
        self.io.close().await;
        self.tracker.close();
        tokio::time::timeout(Duration::from_secs(5), self.tracker.wait()).await.expect("tasks are left");
    }
}

/// A websocket client.
pub struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    /// Opens the Engine.IO session only.
    pub async fn open(addr: SocketAddr) -> Self {
        let url = format!("ws://{addr}/socket.io/?EIO=4&transport=websocket");
        let (stream, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        let mut client = Self(stream);
        assert!(client.packet_opt().await.unwrap().starts_with("0{"));
        client
    }

    /// Joins the namespace `/`.
    pub async fn connect(addr: SocketAddr) -> Self {
        let mut client = Self::open(addr).await;
        client.send("40").await;
        assert!(client.packet().await.starts_with("40{"));
        client
    }

    pub async fn feed(&mut self, packet: &str) {
        self.0.feed(Message::text(packet)).await.unwrap();
    }

    pub async fn flush(&mut self) {
        self.0.flush().await.unwrap();
    }

    pub async fn send(&mut self, packet: &str) {
        self.0.send(Message::text(packet)).await.unwrap();
    }

    pub async fn send_binary(&mut self, bytes: Vec<u8>) {
        self.0.send(Message::binary(bytes)).await.unwrap();
    }

    /// The next packet that is not a heartbeat; `None` when the connection ended.
    pub async fn packet_opt(&mut self) -> Option<String> {
        loop {
            let message =
                tokio::time::timeout(Duration::from_secs(10), self.0.next()).await.expect("no packet");
            match message {
                Some(Ok(Message::Text(text))) if text.as_str() == "2" => {
                    self.0.send(Message::text("3")).await.ok();
                }
                Some(Ok(Message::Text(text))) => return Some(text.as_str().to_owned()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// The next Socket.IO packet.
    pub async fn packet(&mut self) -> String {
        let packet = self.packet_opt().await.expect("the connection ended");
        packet.strip_prefix('4').map(|_| packet.clone()).unwrap_or_else(|| panic!("not a message: {packet}"))
    }

    /// Waits for the end of the connection.
    pub async fn ended(&mut self) -> bool {
        while let Some(packet) = self.packet_opt().await {
            assert_eq!(packet, "1", "only the close packet may still come");
        }
        true
    }

    pub async fn close(mut self) {
        self.0.close(None).await.ok();
        // Unread packets would turn the end of the connection into a reset, which may overtake what was sent.
        while self.packet_opt().await.is_some() {}
    }
}

/// A value of 10,000 levels.
pub fn deep(open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(10_000), close.repeat(10_000))
}

/// Polls `condition` for up to 20 seconds.
pub async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..4000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("did not happen: {what}");
}
