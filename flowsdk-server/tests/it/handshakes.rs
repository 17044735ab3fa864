//! What a session costs that nobody lets in, and what it leaves behind.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::harness::http::{self, Answer};
use crate::harness::{Client, PATIENCE, Setup, eventually, everywhere};

everywhere!(
    sessions_that_wait_are_few,
    websockets_that_were_left_are_few,
    a_refused_client_loses_its_connection,
    a_server_that_stops_keeps_nobody_waiting
);

const SOCKET: &str = "/webchat/socket.io/?EIO=4";

async fn open(addr: SocketAddr, from: &str) -> Answer {
    http::get(addr, &format!("{SOCKET}&transport=polling"), &[("x-forwarded-for", from)]).await
}

fn session(opened: &Answer) -> String {
    assert_eq!(opened.status, 200, "{opened:?}");
    let open: serde_json::Value = serde_json::from_str(&opened.body[1..]).unwrap();
    format!("{SOCKET}&transport=polling&sid={}", open["sid"].as_str().unwrap())
}

async fn post(addr: SocketAddr, session: &str, packet: &str) -> Answer {
    let text = [("content-type", "text/plain;charset=UTF-8")];
    http::send(addr, "POST", session, &text, Some(packet.as_bytes())).await.unwrap()
}

/// Polls until there is a packet that begins so; all that came until then.
async fn poll_for(addr: SocketAddr, session: &str, wanted: &str) -> Vec<String> {
    let mut packets: Vec<String> = Vec::new();
    let polling = async {
        while !packets.iter().any(|packet| packet.starts_with(wanted)) {
            let answer = http::get(addr, session, &[]).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            packets.extend(answer.body.split('\u{1e}').map(str::to_owned));
        }
    };
    tokio::time::timeout(PATIENCE, polling).await.expect("the packet");
    packets
}

async fn sessions_that_wait_are_few(setup: Setup) {
    let setup = setup
        .with("TRUSTED_PROXIES", "1")
        .with("WEBCHAT_HANDSHAKES_PER_ADDRESS", "2")
        .with("WEBCHAT_HANDSHAKES", "3");
    let server = setup.start().await;
    let addr = server.addr;
    let first = session(&open(addr, "1.1.1.1").await);
    let second = session(&open(addr, "1.1.1.1").await);
    // A client can write the first entry itself.
    let refused = open(addr, "9.9.9.9, 1.1.1.1").await;
    refused.assert_error(429);
    assert_eq!(refused.json()["code"], "rate_limited");
    assert!(refused.headers["retry-after"].parse::<u32>().unwrap() > 0);
    session(&open(addr, "2.2.2.2").await);
    let refused = open(addr, "3.3.3.3").await;
    refused.assert_error(503);
    assert_eq!(refused.json()["code"], "unavailable");
    assert!(refused.headers["retry-after"].parse::<u32>().unwrap() > 0);
    // Whoever is let in makes room, and a websocket has a connection.
    setup.visit(&server).await;
    let connect = format!("40{}", json!({ "channelId": setup.seeded.open }));
    post(addr, &first, &connect).await;
    poll_for(addr, &first, r#"42["auth_ok""#).await;
    session(&open(addr, "1.1.1.1").await);
    open(addr, "3.3.3.3").await.assert_error(503);
    // So does whoever goes, once the time for its CONNECT is over, too.
    post(addr, &second, "1").await;
    eventually("room", async || (open(addr, "3.3.3.3").await.status == 200).then_some(())).await;
}

/// Opens a session over a websocket, or returns the status of the refusal.
async fn websocket_from(
    addr: SocketAddr,
    from: &str,
) -> Result<WebSocketStream<MaybeTlsStream<TcpStream>>, u16> {
    let mut request = format!("ws://{addr}{SOCKET}&transport=websocket").into_client_request().unwrap();
    request.headers_mut().insert("x-forwarded-for", from.parse().unwrap());
    match tokio_tungstenite::connect_async(request).await {
        Ok((mut socket, _)) => {
            assert!(next(&mut socket).await.expect("the open packet").starts_with('0'));
            Ok(socket)
        }
        Err(Error::Http(refused)) => Err(refused.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// The session of a websocket that was left before its CONNECT outlives its connection.
async fn websockets_that_were_left_are_few(setup: Setup) {
    let setup = setup
        .with("TRUSTED_PROXIES", "1")
        .with("WEBCHAT_HANDSHAKES_PER_ADDRESS", "2")
        .with("WEBCHAT_HANDSHAKES", "4");
    let server = setup.start().await;
    let addr = server.addr;
    // With their connections they count among those, however many there are.
    let mut open_ones = Vec::new();
    for _ in 0..5 {
        open_ones.push(websocket_from(addr, "1.1.1.1").await.expect("a session"));
    }
    drop(open_ones);
    let refused = async |from: &'static str| websocket_from(addr, from).await.err();
    assert_eq!(eventually("the address is full", async || refused("1.1.1.1").await).await, 429);
    assert_eq!(eventually("all are full", async || refused("2.2.2.2").await).await, 503);
    // Sessions over long polling have a count of their own.
    session(&open(addr, "1.1.1.1").await);
    eventually("room, once the time for a CONNECT is over", async || {
        websocket_from(addr, "1.1.1.1").await.ok()
    })
    .await;
    // Whoever was let in and leaves counts no more.
    for _ in 0..5 {
        setup.visit(&server).await;
    }
}

/// Visitors, clients in the middle of their handshake and connections without a word are let go at once.
async fn a_server_that_stops_keeps_nobody_waiting(setup: Setup) {
    let server = setup.start().await;
    let mut visitors = Vec::new();
    for n in 0..50 {
        let token = setup.token(json!({ "sub": format!("v{n}") }));
        let auth = json!({ "channelId": setup.seeded.closed, "token": token });
        visitors.push(Client::enter(server.addr, auth).await.0);
    }
    // Its CONNECT is still to come.
    let url = format!("ws://{}{SOCKET}&transport=websocket", server.addr);
    let (mut slow, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    assert!(next(&mut slow).await.unwrap().starts_with('0'));
    let polling = session(&open(server.addr, "1.1.1.1").await);
    post(server.addr, &polling, &format!("40{}", json!({ "channelId": setup.seeded.open }))).await;
    poll_for(server.addr, &polling, r#"42["auth_ok""#).await;
    let _silent = TcpStream::connect(server.addr).await.unwrap();
    let gone = async {
        for visitor in &visitors {
            visitor.closed().await;
        }
        assert_eq!(next(&mut slow).await, None);
    };
    let ((status, time), ()) = tokio::join!(server.stop(), gone);
    assert!(status.success(), "{status}");
    eprintln!("stopped after {time:?}");
    // A third of SHUTDOWN_TIMEOUT is 10 s.
    assert!(time < Duration::from_secs(5), "{time:?}");
}

async fn next(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Option<String> {
    loop {
        match tokio::time::timeout(PATIENCE, socket.next()).await.expect("a packet") {
            Some(Ok(Frame::Text(text))) if text.as_str() == "2" => {
                let _late = socket.send(Frame::text("3")).await;
            }
            Some(Ok(Frame::Text(text))) => return Some(text.as_str().to_owned()),
            Some(Ok(Frame::Close(_)) | Err(_)) | None => return None,
            Some(Ok(_)) => {}
        }
    }
}

/// Reads to the end of the connection, which the server makes; heartbeats are answered meanwhile.
async fn ended(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Vec<String> {
    let mut packets = Vec::new();
    while let Some(packet) = next(socket).await {
        packets.push(packet);
    }
    packets
}

async fn a_refused_client_loses_its_connection(setup: Setup) {
    let server = setup.start().await;
    let addr = server.addr;
    let refused = format!("40{}", json!({ "channelId": "nope" }));
    let websocket = async |query: &str| {
        let address = format!("ws://{addr}{SOCKET}&transport=websocket{query}");
        tokio_tungstenite::connect_async(address).await.unwrap().0
    };
    let assert_told = |packets: &[String]| {
        let told = packets.iter().position(|packet| packet.contains("auth_error")).expect("told why");
        assert_eq!(packets[told + 1], "41", "{packets:?}");
    };

    let mut direct = websocket("").await;
    direct.send(Frame::text(refused.clone())).await.unwrap();
    assert_told(&ended(&mut direct).await);

    let polling = session(&open(addr, "").await);
    post(addr, &polling, &refused).await;
    assert_told(&poll_for(addr, &polling, "41").await);
    eventually("the session is gone", async || (post(addr, &polling, "3").await.status == 400).then_some(()))
        .await;

    let polling = session(&open(addr, "").await);
    let mut upgraded = websocket(&polling[polling.find("&sid=").unwrap()..]).await;
    upgraded.send(Frame::text("2probe")).await.unwrap();
    assert_eq!(next(&mut upgraded).await.as_deref(), Some("3probe"));
    upgraded.send(Frame::text("5")).await.unwrap();
    upgraded.send(Frame::text(refused)).await.unwrap();
    assert_told(&ended(&mut upgraded).await);

    // Who leaves by itself has no more use for the connection either.
    let mut leaves = websocket("").await;
    leaves.send(Frame::text(format!("40{}", json!({ "channelId": setup.seeded.open })))).await.unwrap();
    while !next(&mut leaves).await.expect("a packet").contains("auth_ok") {}
    leaves.send(Frame::text("41")).await.unwrap();
    ended(&mut leaves).await;
}
