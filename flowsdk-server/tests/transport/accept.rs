//! The accept loop: slow heads, limits, shutdown.

use std::time::{Duration, Instant};

use crate::support::{Client, Server, http, wait_until};
use axum::{Router, extract::ConnectInfo, routing::get};
use flowsdk_server::{serve::ServeConfig, socket::OrderedConfig};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

fn app() -> Router {
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(300)).await;
        "done"
    };
    let hangs = async || tokio::time::sleep(Duration::from_secs(3600)).await;
    let peer = async |ConnectInfo(peer): ConnectInfo<std::net::SocketAddr>| peer.ip().to_string();
    let large = async || "x".repeat(8 << 20);
    let app = Router::new().route("/large", get(large));
    app.route("/slow", get(slow)).route("/hangs", get(hangs)).route("/peer", get(peer))
}

async fn server(config: ServeConfig) -> Server {
    Server::start_with(OrderedConfig::default(), config, app()).await
}

#[tokio::test]
async fn handlers_see_the_peer() {
    let server = server(ServeConfig::default()).await;
    assert_eq!(http::request(server.addr, "GET", "/peer", "").await, (200, "127.0.0.1".to_owned()));
    server.stop().await;
}

#[tokio::test]
async fn a_dribbled_head_is_cut() {
    let config = ServeConfig { header_read_timeout: Duration::from_millis(300), ..ServeConfig::default() };
    let server = server(config).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let begin = Instant::now();
    let mut cut = false;
    for byte in b"GET /peer HTTP/1.1\r\nHost: localhost\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" {
        if stream.write_all(&[*byte]).await.is_err() {
            cut = true;
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(cut || stream.read(&mut [0; 16]).await.is_ok_and(|n| n == 0));
    wait_until("the connection is gone", || server.tracker.len() == 1).await;
    assert!(begin.elapsed() < Duration::from_secs(3));
    server.stop().await;
}

#[tokio::test]
async fn websockets_count_as_connections() {
    let config = ServeConfig { max_connections: 2, ..ServeConfig::default() };
    let server = server(config).await;
    let (first, second) = (Client::connect(server.addr).await, Client::connect(server.addr).await);
    let third =
        tokio::time::timeout(Duration::from_millis(200), http::request(server.addr, "GET", "/peer", ""))
            .await;
    assert!(third.is_err(), "both places are taken by websockets");
    first.close().await;
    assert_eq!(http::request(server.addr, "GET", "/peer", "").await.0, 200);
    second.close().await;
    server.stop().await;
}

#[tokio::test]
async fn a_shutdown_lets_requests_finish_and_aborts_what_hangs() {
    let server = server(ServeConfig::default()).await;
    let addr = server.addr;
    let mut idle = TcpStream::connect(addr).await.unwrap();
    idle.write_all(b"GET /peer HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut buffer = [0; 1024];
    assert!(idle.read(&mut buffer).await.unwrap() > 0);
    let mut hangs = TcpStream::connect(addr).await.unwrap();
    hangs.write_all(b"GET /hangs HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let socket = Client::connect(addr).await;
    let slow = async {
        let answer = http::request(addr, "GET", "/slow", "").await;
        (answer, Instant::now())
    };
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        server.stop().await; // the deadline is 500 ms
        begin.elapsed()
    };
    let ((answer, _), elapsed) = tokio::join!(slow, stop);
    assert_eq!(answer, (200, "done".to_owned()), "a running request finishes");
    assert!((Duration::from_millis(450)..Duration::from_secs(2)).contains(&elapsed), "{elapsed:?}");
    assert_eq!(idle.read(&mut buffer).await.unwrap_or(0), 0, "an idle connection is closed");
    assert_eq!(hangs.read(&mut buffer).await.unwrap_or(0), 0, "a hanging request is aborted");
    assert!(TcpStream::connect(addr).await.is_err(), "nobody listens");
    drop(socket);
}

#[tokio::test]
async fn an_abandoned_poll_ends_the_session() {
    let server = server(ServeConfig::default()).await;
    let session = http::open(server.addr).await;
    session.post("40").await;
    session.poll_for("40{").await;
    wait_until("joined", || server.io.sockets().len() == 1).await;
    // A poll that a waiting heartbeat answers was not abandoned; the first that was must end the session.
    while !session.abandon_poll().await {}
    wait_until("left", || server.io.sockets().is_empty()).await;
    assert_eq!(session.poll().await.0, 400);
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_takes_no_answers_is_cut() {
    let config = ServeConfig { write_timeout: Duration::from_millis(300), ..ServeConfig::default() };
    let server = server(config).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let requests = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(60);
    stream.write_all(requests.as_bytes()).await.unwrap();
    wait_until("the connection is there", || server.tracker.len() == 2).await;
    wait_until("the connection is gone", || server.tracker.len() == 1).await;
    let (status, body) = http::request(server.addr, "GET", "/large", "").await;
    assert_eq!((status, body.len()), (200, 8 << 20), "whoever reads gets all of it");
    server.stop().await;
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let server = server(ServeConfig::default()).await;
    for (head, status) in [
        ("GET /peer HTTP/1.1\r\nHost: a\r\n", 200),
        ("GET /peer HTTP/1.0\r\n", 200),
        ("GET /peer HTTP/1.0\r\nHost: a\r\nHost: b\r\n", 400),
        ("GET /peer HTTP/1.1\r\n", 400),
        ("GET /peer HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400),
        ("GET /peer HTTP/1.1\r\nHost: a\r\nhost: a\r\n", 400),
        ("GET /peer HTTP/1.1\r\nHost: [::1]:8080\r\n", 200),
        ("GET /peer HTTP/1.1\r\nHost: my_shop.example\r\n", 200),
        ("GET /peer HTTP/1.1\r\nHost:\r\n", 200),
        ("GET /peer HTTP/1.1\r\nHost: a b\r\n", 400),
        ("GET /peer HTTP/1.1\r\nHost: a/b\r\n", 400),
        ("GET /peer HTTP/1.1\r\nHost: a@b\r\n", 400),
    ] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status.to_string().as_str()), "{head:?}: {answer}");
    }
    server.stop().await;
}
