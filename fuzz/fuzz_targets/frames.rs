//! Socket.IO over long polling: a session is opened, and the input is posted to it, a packet a line. No packet panics,
//! and each request has an answer.
#![no_main]

use axum::body::Body;
use flowsdk_server::socket::{Event, EventHandler, Front, OrderedConfig, SocketLimits, builder, in_order};
use http::Request;
use http_body_util::BodyExt as _;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use socketioxide::extract::SocketRef;
use socketioxide::socket::DisconnectReason;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// Most requests of one input.
const MOST: usize = 8;

struct Nothing;

impl EventHandler for Nothing {
    async fn on_connect(&self, _: &SocketRef, _: Value) {}

    async fn on_event(&self, _: &SocketRef, event: Event) {
        if let Some(ack) = event.ack {
            let _gone = ack.send(&event.payload);
        }
    }

    async fn on_disconnect(&self, _: &SocketRef, _: DisconnectReason) {}
}

async fn session(packets: &[u8]) {
    const PATH: &str = "/socket.io/?EIO=4&transport=polling";
    let (service, io) = builder(&SocketLimits::default()).build_svc();
    let tracker = TaskTracker::new();
    io.ns("/", in_order(&tracker, OrderedConfig::default(), Nothing));
    let front = Front::new(service);
    let send = async |method: &str, path: &str, body: Vec<u8>| {
        let request = Request::builder().method(method).uri(path).body(Body::from(body)).expect("a request");
        let answer = front.clone().oneshot(request).await.expect("an answer");
        answer.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default()
    };
    let opened = send("GET", PATH, Vec::new()).await;
    let opened: Value = serde_json::from_slice(&opened[1..]).expect("the packet that opens");
    let path = format!("{PATH}&sid={}", opened["sid"].as_str().expect("an id"));
    send("POST", &path, b"40".to_vec()).await;
    for body in packets.split(|byte| *byte == b'\n').take(MOST) {
        send("POST", &path, body.to_vec()).await;
    }
    send("POST", &path, b"1".to_vec()).await;
    io.close().await;
}

fuzz_target!(|packets: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(session(packets));
});
