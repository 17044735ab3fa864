//! Bare Engine.IO and Socket.IO servers for the official conformance suites, on one port.
//!
//! `/engine.io/` echoes every packet. `/socket.io/` has the namespaces `/` and `/custom`, which emit `auth` with the
//! handshake payload, echo `message` as `message-back` and answer `message-with-ack` with its arguments.
//!
//! `CONFORMANCE_PORT` picks the port (0 for any free one); the address is printed. The process ends when its standard
//! input ends, so it cannot outlive the test that started it. `CONFORMANCE_IDLE=1` uses the default heartbeat and
//! drops the tight limits, to measure memory per idle socket; `CONFORMANCE_WS_READ_BUFFER` and
//! `CONFORMANCE_MAX_BUFFER` set the buffers then.

use std::{sync::Arc, time::Duration};

use axum::Router;
use bytes::Bytes;
use engineioxide::{
    DisconnectReason, Socket, Str, config::EngineIoConfig, handler::EngineIoHandler, service::EngineIoService,
};
use flowsdk_server::{
    serve::{ServeConfig, Shutdown, serve},
    socket::{self, Event, EventHandler, Front, OrderedConfig, SocketLimits},
};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq, SerializeTuple},
};
use serde_json::Value;
use socketioxide::extract::SocketRef;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[derive(Debug)]
struct Echo;

impl EngineIoHandler for Echo {
    type Data = ();

    fn on_connect(self: Arc<Self>, _: Arc<Socket<()>>) {}

    fn on_disconnect(&self, _: Arc<Socket<()>>, _: DisconnectReason) {}

    fn on_message(self: &Arc<Self>, message: Str, socket: Arc<Socket<()>>) {
        socket.emit(message).ok();
    }

    fn on_binary(self: &Arc<Self>, data: Bytes, socket: Arc<Socket<()>>) {
        socket.emit_binary(data).ok();
    }
}

struct Bare;

impl EventHandler for Bare {
    async fn on_connect(&self, socket: &SocketRef, auth: Value) {
        socket::emit_checked(socket, "auth", &auth).ok();
    }

    async fn on_event(&self, socket: &SocketRef, event: Event) {
        let Event { name, payload, rest, attachments, ack } = event;
        let args = Args { args: std::iter::once(payload).chain(rest).collect(), attachments };
        match (name.as_str(), ack) {
            ("message", _) => socket::emit_checked(socket, "message-back", &args).unwrap_or_default(),
            ("message-with-ack", Some(ack)) => ack.send(&args).unwrap_or_default(),
            _ => {}
        }
    }
}

/// Arguments with their attachments in place of the placeholders.
struct Args {
    args: Vec<Value>,
    attachments: Vec<Bytes>,
}

impl Serialize for Args {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(self.args.len())?;
        for arg in &self.args {
            tuple.serialize_element(&Arg(arg, &self.attachments))?;
        }
        tuple.end()
    }
}

struct Arg<'a>(&'a Value, &'a [Bytes]);

impl Serialize for Arg<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(&Arg(item, self.1))?;
                }
                seq.end()
            }
            Value::Object(map) if map.get("_placeholder") == Some(&Value::Bool(true)) => {
                let index = map.get("num").and_then(Value::as_u64).unwrap_or(u64::MAX);
                match usize::try_from(index).ok().and_then(|index| self.1.get(index)) {
                    Some(bytes) => serializer.serialize_bytes(bytes),
                    None => serializer.serialize_unit(),
                }
            }
            Value::Object(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map {
                    out.serialize_entry(key, &Arg(value, self.1))?;
                }
                out.end()
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

fn env(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

// One thread: the suites send requests side by side on several connections and expect them to be served in the order of
// their arrival, which several workers do not promise.
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let idle = env("CONFORMANCE_IDLE") == Some(1);
    let (interval, timeout) = if idle {
        (Duration::from_secs(25), Duration::from_secs(20))
    } else {
        (Duration::from_millis(300), Duration::from_millis(200))
    };
    let limits = SocketLimits {
        max_payload: 1_000_000,
        ping_interval: interval,
        ping_timeout: timeout,
        connect_timeout: Duration::from_secs(if idle { 20 } else { 1 }),
        max_buffer_size: env("CONFORMANCE_MAX_BUFFER").unwrap_or(128),
        ws_read_buffer_size: env("CONFORMANCE_WS_READ_BUFFER").unwrap_or(1024),
        ..SocketLimits::default()
    };
    let shutdown = Shutdown {
        token: CancellationToken::new(),
        sockets_closed: CancellationToken::new(),
        tracker: TaskTracker::new(),
        drain: Duration::from_millis(500),
    };
    let engine = EngineIoService::with_config(
        Arc::new(Echo),
        EngineIoConfig::builder()
            .ping_interval(interval)
            .ping_timeout(timeout)
            .max_payload(1_000_000)
            .ws_max_message_size(1_000_000)
            .ws_max_frame_size(1_000_000)
            .build(),
    );
    let (sockets, io) = socket::builder(&limits).build_svc();
    for path in ["/", "/custom"] {
        io.ns(path, socket::in_order(&shutdown.tracker, OrderedConfig::default(), Bare));
    }
    let app = Router::new()
        .route_service("/engine.io/", Front::new(engine))
        .route_service("/socket.io/", Front::new(sockets));

    let port = u16::try_from(env("CONFORMANCE_PORT").unwrap_or(3000)).unwrap_or(3000);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    announce(&listener)?;
    let token = shutdown.token.clone();
    shutdown.tracker.spawn(async move {
        let end = || std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        tokio::task::spawn_blocking(end).await.ok();
        io.close().await;
        token.cancel();
    });
    serve(listener, app, ServeConfig::default(), shutdown).await;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the test reads the address from here")]
fn announce(listener: &TcpListener) -> std::io::Result<()> {
    println!("listening on http://{}", listener.local_addr()?);
    Ok(())
}
