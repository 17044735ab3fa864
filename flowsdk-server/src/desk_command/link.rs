//! The connection to the desk socket.

use std::time::Duration;

use reqwest::{Client, Upgraded};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use crate::desk::SOCKET_PATH;
use crate::socket::client::{self, Frame, HandshakeError, Packet, Reading, Writing, packet};

/// The time after which a silent connection counts as lost. The server sends a heartbeat every 25 seconds.
const SILENCE: Duration = Duration::from_secs(60);
/// The time within which the server lets a desk in.
const ENTRY: Duration = Duration::from_secs(15);
/// The pause before the first attempt to connect again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The reason why the desk is not connected.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    /// The server does not let this user in; the code says why.
    #[error("the server does not let the desk in: {0}")]
    Refused(String),
    /// There is no connection.
    #[error(transparent)]
    NoSocket(#[from] HandshakeError),
    /// The connection ended before the server answered.
    #[error("the connection ended before the desk was let in")]
    Ended,
}

/// A desk that was let in.
#[derive(Debug)]
pub(super) struct Link {
    reading: Reading<Upgraded>,
    writing: Writing<Upgraded>,
    next_ack: u64,
    /// When the last packet came.
    heard: Instant,
}

impl Link {
    /// Connects to the server at `url`, for the news after `since`.
    pub(super) async fn open(
        http: &Client,
        url: &str,
        token: &SecretString,
        since: Option<i64>,
    ) -> Result<Self, LinkError> {
        let address = format!("{url}{SOCKET_PATH}/?EIO=4&transport=websocket");
        let stream = client::upgrade(http, &address).await?;
        let mut auth = json!({ "token": token.expose_secret() });
        if let Some(since) = since {
            auth["since"] = since.into();
        }
        let entering = async {
            let (mut reading, mut writing) = client::open(stream, &auth.to_string()).await.ok()?;
            loop {
                match reading.next().await? {
                    // The first heartbeat may come before the answer.
                    Packet::Ping => writing.send(Frame::text(packet::PONG)).await.ok()?,
                    Packet::Connected => return Some(Ok((reading, writing))),
                    Packet::Refused(answer) => return Some(Err(answer)),
                    Packet::Event { .. } | Packet::Ack { .. } | Packet::Left => return None,
                }
            }
        };
        match timeout(ENTRY, entering).await.ok().flatten() {
            Some(Ok((reading, writing))) => Ok(Self { reading, writing, next_ack: 0, heard: Instant::now() }),
            Some(Err(answer)) => {
                Err(LinkError::Refused(answer["message"].as_str().unwrap_or_default().to_owned()))
            }
            None => Err(LinkError::Ended),
        }
    }

    /// Returns the next packet; `None` when the connection is lost. Nothing is lost where this future is dropped.
    pub(super) async fn next(&mut self) -> Option<Packet> {
        let packet = timeout_at(self.heard + SILENCE, self.reading.next()).await.ok()??;
        self.heard = Instant::now();
        Some(packet)
    }

    /// Answers a heartbeat. Returns `None` when the connection is lost.
    pub(super) async fn pong(&mut self) -> Option<()> {
        self.writing.send(Frame::text(packet::PONG)).await.ok()
    }

    /// Sends a command. Returns the number of its answer; `None` when the connection is lost.
    pub(super) async fn emit(&mut self, event: &str, payload: &Value) -> Option<u64> {
        let id = self.next_ack;
        self.next_ack += 1;
        let frame = Frame::text(packet::event(Some(id), &json!([event, payload]).to_string()));
        self.writing.send(frame).await.ok().map(|()| id)
    }

    /// Tells the server that the desk goes.
    pub(super) async fn leave(mut self) {
        // A server that is away needs not be told.
        let _gone = self.writing.send(Frame::text(packet::LEAVE)).await;
    }
}

/// Returns the pause before an attempt to connect again; the first is number 0.
pub(super) fn pause(attempt: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempt)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_a_minute() {
        let pauses = [0, 1, 2, 6, 7, 40, u32::MAX].map(|attempt| pause(attempt).as_millis());
        assert_eq!(pauses, [250, 500, 1_000, 16_000, 30_000, 30_000, 30_000]);
    }
}
