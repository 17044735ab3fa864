//! The client side of a websocket, as little of it as a load generator needs: no fragments, no
//! extensions, and a mask of zeros, so that the generator costs less than the server it drives.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Opcode of a text frame, final.
const TEXT: u8 = 0x81;
const MASKED: u8 = 0x80;
/// The key of the example in RFC 6455.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// A websocket over plain TCP.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
    /// How far `received` was read.
    read: usize,
    unsent: Vec<u8>,
}

impl Wire {
    /// Connects to a server and upgrades to a websocket.
    pub(crate) async fn open(address: SocketAddr, path: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut wire = Self { stream, received: Vec::with_capacity(1024), read: 0, unsent: Vec::new() };
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        wire.unsent.extend(request.as_bytes());
        wire.flush().await?;
        loop {
            wire.fill().await.context("in the handshake")?;
            if let Some(end) = wire.received.windows(4).position(|four| four == b"\r\n\r\n") {
                if !wire.received.starts_with(b"HTTP/1.1 101") {
                    bail!("no websocket: {}", String::from_utf8_lossy(&wire.received));
                }
                wire.read = end + 4;
                return Ok(wire);
            }
        }
    }

    /// Queues a text frame.
    pub(crate) fn push(&mut self, text: &str) {
        self.unsent.push(TEXT);
        match u8::try_from(text.len()) {
            Ok(short @ ..126) => self.unsent.push(MASKED | short),
            _ => {
                self.unsent.push(MASKED | 126);
                let long = u16::try_from(text.len()).unwrap_or(u16::MAX);
                self.unsent.extend(long.to_be_bytes());
            }
        }
        self.unsent.extend([0; 4]);
        self.unsent.extend(text.as_bytes());
    }

    /// Sends the queued messages.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        if !self.unsent.is_empty() {
            self.stream.write_all(&self.unsent).await?;
            self.unsent.clear();
        }
        Ok(())
    }

    /// Waits until something arrives. Nothing is lost when it is dropped in between.
    pub(crate) async fn fill(&mut self) -> io::Result<()> {
        if self.read > 0 {
            self.received.drain(..self.read);
            self.read = 0;
        }
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// The next text that has arrived whole. Other frames are skipped.
    pub(crate) fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let unread = &self.received[self.read..];
            let (head, length) = match *unread {
                [_, 126, high, low, ..] => (4, usize::from(u16::from_be_bytes([high, low]))),
                [_, 127, a, b, c, d, e, f, g, h, ..] => {
                    (10, usize::try_from(u64::from_be_bytes([a, b, c, d, e, f, g, h])).ok()?)
                }
                [_, short @ ..126, ..] => (2, usize::from(short)),
                _ => return None,
            };
            if unread.len() < head + length {
                return None;
            }
            let opcode = unread[0];
            let start = self.read + head;
            self.read = start + length;
            if opcode == TEXT {
                return Some(start..self.read);
            }
        }
    }

    /// The text at `range`.
    pub(crate) fn text(&self, range: Range<usize>) -> &str {
        std::str::from_utf8(&self.received[range]).unwrap_or_default()
    }
}
