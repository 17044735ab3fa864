//! Strangers who try to use up connections and memory without being let in.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Attack, PAUSE, Tally, Target};

/// How long a connection is held that the server does not close.
const HELD: Duration = Duration::from_secs(120);

/// The request for the largest answer that everybody gets.
const MUCH: &[u8] = b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n";

/// The address that strangers come from, for a server with `TRUSTED_PROXIES=1`: others who come from this machine do
/// not share their limits.
const FROM: &str = "X-Forwarded-For: 203.0.113.7";

/// An attack: its name, how many connections it has, and the use of one.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Opens sessions over long polling.
    Handshakes,
    /// The same with a head of 27 KB.
    LongHandshakes,
    /// Stays on the websocket after a refusal.
    Refused,
    /// Asks for much and reads nothing.
    SlowReaders,
    /// Sends the body of a login byte by byte.
    SlowBodies,
    /// Sends bodies that are costly to read.
    Nested,
}

impl Kind {
    const ALL: [(&'static str, Self, usize); 6] = [
        ("handshakes", Self::Handshakes, 32),
        ("long handshakes", Self::LongHandshakes, 32),
        ("refused sockets", Self::Refused, 300),
        ("slow readers", Self::SlowReaders, 300),
        ("slow bodies", Self::SlowBodies, 300),
        ("nested bodies", Self::Nested, 50),
    ];

    /// Uses one connection until the server closes it, or for [`HELD`].
    async fn use_one(self, address: SocketAddr) -> Result<&'static str> {
        let mut stream = TcpStream::connect(address).await?;
        match self {
            Self::Handshakes => handshakes(&mut stream, "").await,
            Self::LongHandshakes => {
                let headers: String = (0..9).map(|n| format!("X-{n}: {}\r\n", "x".repeat(3_000))).collect();
                handshakes(&mut stream, &headers).await
            }
            Self::Refused => refused(&mut stream).await,
            Self::SlowReaders => {
                for _ in 0..60 {
                    stream.write_all(MUCH).await?;
                }
                wait_for_close(&stream).await
            }
            Self::SlowBodies => slow_body(&mut stream).await,
            Self::Nested => {
                let body = format!("{}{}", "[".repeat(8_000), "]".repeat(8_000));
                write_login(&mut stream, body.len()).await?;
                stream.write_all(body.as_bytes()).await?;
                read_status(&mut stream).await
            }
        }
    }
}

/// Begins all attacks, or those in `only`.
pub(crate) fn begin(target: &Target, only: &[String], tally: &Tally) -> Result<Attack> {
    let wanted: Vec<_> = Kind::ALL
        .into_iter()
        .filter(|(name, ..)| only.is_empty() || only.iter().any(|one| one == name))
        .collect();
    let (target, tally) = (target.clone(), tally.clone());
    Attack::start(move || async move {
        let mut all = tokio::task::JoinSet::new();
        for (name, kind, connections) in wanted {
            for number in 0..connections {
                let (address, tally) = (target.address(number), tally.clone());
                all.spawn_local(async move {
                    loop {
                        match tokio::time::timeout(HELD, kind.use_one(address)).await {
                            Ok(Ok(end)) => tally.count(name, end),
                            Ok(Err(_)) => {
                                tally.count(name, "connection broken");
                                tokio::time::sleep(PAUSE).await;
                            }
                            Err(_) => tally.count(name, "held to the end"),
                        }
                    }
                });
            }
        }
        while all.join_next().await.is_some() {}
    })
}

/// Opens a session, and returns the status.
async fn handshakes(stream: &mut TcpStream, headers: &str) -> Result<&'static str> {
    let request = format!(
        "GET /webchat/socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{FROM}\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    read_status(stream).await
}

/// Goes on after `auth_error` on the open websocket.
async fn refused(stream: &mut TcpStream) -> Result<&'static str> {
    let request = format!(
        "GET /webchat/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n{FROM}\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    match read_status(stream).await? {
        "101" => {}
        refused => return Ok(refused),
    }
    stream.write_all(&frame(r#"40{"channelId":"nope"}"#)).await?;
    stream.write_all(&frame("41")).await?;
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).await? > 0 {
        // A pong, so that the connection counts as alive.
        stream.write_all(&frame("3")).await?;
    }
    Ok("closed")
}

/// A masked text frame of less than 126 bytes, with a mask of zeros.
fn frame(text: &str) -> Vec<u8> {
    let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap_or(125), 0, 0, 0, 0];
    frame.extend(text.as_bytes());
    frame
}

async fn write_login(stream: &mut TcpStream, length: usize) -> Result<()> {
    let head = format!(
        "POST /auth/login HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{FROM}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    Ok(stream.write_all(head.as_bytes()).await?)
}

async fn slow_body(stream: &mut TcpStream) -> Result<&'static str> {
    write_login(stream, 16_000).await?;
    loop {
        stream.write_all(b" ").await?;
        if tokio::time::timeout(Duration::from_secs(1), stream.readable()).await.is_ok() {
            return read_status(stream).await;
        }
    }
}

async fn read_status(stream: &mut TcpStream) -> Result<&'static str> {
    let mut head = [0; 12];
    stream.read_exact(&mut head).await?;
    Ok(match &head[9..] {
        b"101" => "101",
        b"200" => "200",
        b"400" => "400",
        b"401" => "401",
        b"408" => "408",
        b"413" => "413",
        b"429" => "429",
        b"503" => "503",
        _ => "another status",
    })
}

/// Waits for the close without reading, which the kernel tells to one who writes.
async fn wait_for_close(stream: &TcpStream) -> Result<&'static str> {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if stream.try_write(MUCH).is_err_and(|error| error.kind() != std::io::ErrorKind::WouldBlock) {
            return Ok("closed");
        }
    }
}
