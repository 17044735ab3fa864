//! A long-polling client on plain TCP.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// One request on a connection of its own; the status and the body.
pub async fn request(addr: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.ok(); // refused bodies are not read to their end
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a response");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

/// An Engine.IO session over long polling.
pub struct Session {
    addr: SocketAddr,
    path: String,
}

/// Opens a session.
pub async fn open(addr: SocketAddr) -> Session {
    let path = "/socket.io/?EIO=4&transport=polling";
    let (status, body) = request(addr, "GET", path, "").await;
    assert_eq!(status, 200);
    let open: serde_json::Value = serde_json::from_str(&body[1..]).unwrap();
    Session { addr, path: format!("{path}&sid={}", open["sid"].as_str().unwrap()) }
}

impl Session {
    pub async fn post(&self, body: &str) -> (u16, String) {
        request(self.addr, "POST", &self.path, body).await
    }

    pub async fn poll(&self) -> (u16, String) {
        request(self.addr, "GET", &self.path, "").await
    }

    /// Polls until a packet starts with `prefix`; heartbeats are answered.
    pub async fn poll_for(&self, prefix: &str) -> String {
        loop {
            let (status, body) = self.poll().await;
            assert_eq!(status, 200);
            for packet in body.split('\u{1e}') {
                if packet == "2" {
                    self.post("3").await;
                }
                if packet.starts_with(prefix) {
                    return packet.to_owned();
                }
            }
        }
    }

    /// Starts a poll and goes away from it; whether it was still waiting then. A heartbeat that it brings is
    /// answered.
    pub async fn abandon_poll(&self) -> bool {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        let head = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", self.path);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut first = [0; 1];
        let answer = tokio::time::timeout(std::time::Duration::from_secs(1), stream.read(&mut first)).await;
        if answer.is_ok() {
            self.post("3").await;
        }
        answer.is_err()
    }
}
