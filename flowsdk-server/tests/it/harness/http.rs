//! Plain HTTP/1.1, one connection a request.

use std::collections::HashMap;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::PATIENCE;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Asserts that this is the error body of the contract (rulings H2).
    pub fn assert_error(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.headers["content-type"], "application/json", "{self:?}");
        let body = self.json();
        for field in ["code", "message", "requestId"] {
            assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{self:?}");
        }
    }
}

pub async fn get(addr: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Answer {
    request(addr, "GET", path, headers).await.expect("an answer")
}

pub async fn try_get(addr: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    request(addr, "GET", path, headers).await
}

/// `None` when nobody answers.
pub async fn request(addr: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    send(addr, method, path, headers, None).await
}

/// The same with a body.
pub async fn send(
    addr: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> Option<Answer> {
    let exchange = async {
        let mut stream = TcpStream::connect(addr).await.ok()?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        let (mut read, mut write) = stream.split();
        let sending = async {
            // A server that refuses a body need not read it to its end.
            let _refused = async {
                write.write_all(format!("{head}\r\n").as_bytes()).await?;
                write.write_all(body.unwrap_or_default()).await
            }
            .await;
        };
        let mut bytes = Vec::new();
        let receiving = async {
            let mut part = vec![0; 64 * 1024];
            // A client that is cut off in the middle of its body has the answer before the reset.
            while let Ok(length @ 1..) = read.read(&mut part).await {
                bytes.extend_from_slice(&part[..length]);
            }
        };
        futures_util::future::join(sending, receiving).await;
        parse(&String::from_utf8(bytes).ok()?)
    };
    tokio::time::timeout(PATIENCE, exchange).await.ok()?
}

fn parse(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let chunked = headers.get("transfer-encoding").is_some_and(|value| value == "chunked");
    Some(Answer { status, body: if chunked { unchunk(body) } else { body.to_owned() }, headers })
}

fn unchunk(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        text.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    text
}
