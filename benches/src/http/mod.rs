//! The client side of HTTP/1.1 with connections that stay open, as little of it as a load generator needs: no
//! chunks, no pipelining, one buffer.

pub(crate) mod load;

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request, written out.
#[derive(Debug, Clone)]
pub(crate) struct Request(Vec<u8>);

impl Request {
    /// With the access token `token`, if there is one, and a body of JSON, if there is one.
    pub(crate) fn new(method: &str, path: &str, token: Option<&str>, body: Option<&Value>) -> Self {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        if let Some(token) = token {
            text.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        match body.map(ToString::to_string) {
            None => {
                text.push_str("\r\n");
                Self(text.into_bytes())
            }
            Some(body) => Self::ending(text, "application/json", &body),
        }
    }

    /// With a body of JSON that is written out already.
    pub(crate) fn with_json(method: &str, path: &str, body: &str) -> Self {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        Self::ending(head, "application/json", body)
    }

    /// With a body of plain text.
    pub(crate) fn with_text(method: &str, path: &str, body: &str) -> Self {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        Self::ending(head, "text/plain;charset=UTF-8", body)
    }

    /// A request that begins as `head`, with a body of this type.
    fn ending(mut head: String, content_type: &str, body: &str) -> Self {
        let length = body.len();
        head.push_str(&format!("Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"));
        head.push_str(body);
        Self(head.into_bytes())
    }

    /// The same with one header more.
    #[must_use]
    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        let end = self.0.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        self.0.splice(end..end, format!("{name}: {value}\r\n").into_bytes());
        self
    }
}

/// An open HTTP connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    /// Where the body of the last answer begins in `received`.
    body: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(4096), body: 0 })
    }

    /// Asks, and returns the status of the answer.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<u16> {
        self.received.clear();
        self.stream.write_all(&request.0).await?;
        let (status, length) = loop {
            self.fill().await?;
            if let Some(end) = self.received.windows(4).position(|four| four == b"\r\n\r\n") {
                self.body = end + 4;
                break head(&self.received[..end])?;
            }
        };
        while self.received.len() < self.body + length {
            self.fill().await?;
        }
        Ok(status)
    }

    /// The body of the last answer.
    pub(crate) fn body(&self) -> &[u8] {
        &self.received[self.body..]
    }

    /// Asks for something that must succeed, and returns the body of the answer.
    pub(crate) async fn json(&mut self, request: &Request) -> Result<Value> {
        let status = self.ask(request).await?;
        if !(200..300).contains(&status) {
            bail!("{} was answered {status} {}", first_line(&request.0), text(self.body()));
        }
        serde_json::from_slice(self.body()).with_context(|| text(self.body()))
    }

    async fn fill(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.received).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// Status and length of the body.
fn head(head: &[u8]) -> Result<(u16, usize)> {
    let head = std::str::from_utf8(head)?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    Ok((status, length.context("an answer without its length")?.parse()?))
}

fn first_line(request: &[u8]) -> String {
    text(request).lines().next().unwrap_or_default().to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_written_out() {
        let plain = Request::new("GET", "/a", Some("t"), None);
        assert_eq!(text(&plain.0), "GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer t\r\n\r\n");
        let plain = plain.with_header("X", "y");
        assert!(text(&plain.0).starts_with("GET /a HTTP/1.1\r\nX: y\r\nHost: "));
        let posted = text(&Request::new("POST", "/b", None, Some(&json!({ "n": "é" }))).0);
        assert!(posted.ends_with("Content-Length: 10\r\n\r\n{\"n\":\"é\"}"), "{posted}");
    }

    #[test]
    fn status_and_length_are_read_whatever_the_case() {
        let (status, length) = head(b"HTTP/1.1 201 Created\r\nX: y\r\ncontent-LENGTH: 12").expect("a head");
        assert_eq!((status, length), (201, 12));
        assert!(head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked").is_err());
    }
}
