//! A visitor of the web chat: Socket.IO protocol 5 over one websocket.

use std::fmt;
use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail};

use super::wire::Wire;

/// The event that the server emits when a visitor is in.
const ENTERED: &str = "auth_ok";
/// The event of messages, both ways.
const MESSAGE: &str = "message";

/// A Socket.IO endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Entrance {
    pub(crate) address: SocketAddr,
    /// With slashes around it.
    pub(crate) path: String,
}

/// A visitor who was let in.
#[derive(Debug)]
pub(crate) struct Visitor {
    wire: Wire,
    acknowledge: bool,
}

/// The payload of the `auth_error` with which a visitor was refused.
#[derive(Debug)]
pub(crate) struct NotLetIn(String);

impl NotLetIn {
    /// Returns whether the visitor was refused for the reason `code`.
    pub(crate) fn has_code(&self, code: &str) -> bool {
        self.0.contains(&format!("\"code\":\"{code}\""))
    }
}

impl fmt::Display for NotLetIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not let in: {}", self.0)
    }
}

impl std::error::Error for NotLetIn {}

/// An event of the server: `["name",payload]` and the number under which it wants to be acknowledged.
struct Event<'a> {
    ack: &'a str,
    name: &'a str,
    payload: &'a str,
}

impl<'a> Event<'a> {
    fn parse(packet: &'a str) -> Option<Self> {
        let rest = packet.strip_prefix("42")?;
        let (ack, rest) = rest.split_once("[\"")?;
        let (name, payload) = rest.split_once('"')?;
        Some(Self { ack, name, payload: payload.strip_prefix(',').unwrap_or_default().trim_end_matches(']') })
    }
}

impl Visitor {
    /// Connects with `auth`, and waits for `auth_ok`.
    pub(crate) async fn enter(entrance: &Entrance, auth: &str, acknowledge: bool) -> Result<Self> {
        Self::enter_and_read(entrance, auth, acknowledge).await.map(|(visitor, _)| visitor)
    }

    /// Connects in the same way, and also returns the payload of `auth_ok`.
    pub(crate) async fn enter_and_read(
        entrance: &Entrance,
        auth: &str,
        acknowledge: bool,
    ) -> Result<(Self, String)> {
        let path = format!("{}?EIO=4&transport=websocket", entrance.path);
        let wire = Wire::open(entrance.address, &path).await?;
        let mut visitor = Self { wire, acknowledge };
        loop {
            while let Some(range) = visitor.wire.next() {
                let packet = visitor.wire.text(range).to_owned();
                match Event::parse(&packet) {
                    Some(event) if event.name == ENTERED => return Ok((visitor, event.payload.to_owned())),
                    Some(event) if event.name == "auth_error" => {
                        return Err(NotLetIn(event.payload.to_owned()).into());
                    }
                    _ if packet.starts_with('0') => visitor.wire.push(&format!("40{auth}")),
                    _ if packet.starts_with("44") => bail!("not connected: {packet}"),
                    _ if packet == "2" => visitor.wire.push("3"),
                    _ => {}
                }
            }
            visitor.wire.flush().await?;
            visitor.wire.fill().await.context("while entering")?;
        }
    }

    /// Queues a text message of the visitor.
    pub(crate) fn say(&mut self, text: &str) {
        self.wire.push(&format!("42[\"{MESSAGE}\",{{\"text\":\"{text}\"}}]"));
    }

    /// Sends the queued messages.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        Ok(self.wire.flush().await?)
    }

    /// Waits until something arrives.
    pub(crate) async fn listen(&mut self) -> Result<()> {
        Ok(self.wire.fill().await?)
    }

    /// The next message that has arrived; pings are answered on the way.
    pub(crate) fn take_answer(&mut self) -> Option<String> {
        while let Some(range) = self.wire.next() {
            let packet = self.wire.text(range);
            if packet == "2" {
                self.wire.push("3");
                continue;
            }
            let Some(event) = Event::parse(packet).filter(|event| event.name == MESSAGE) else {
                continue;
            };
            let payload = event.payload.to_owned();
            if self.acknowledge && !event.ack.is_empty() {
                let ack = format!("43{}[]", event.ack);
                self.wire.push(&ack);
            }
            return Some(payload);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_with_and_without_a_number() {
        for (packet, ack) in [(r#"42["message",{"id":"a"}]"#, ""), (r#"4217["message",{"id":"a"}]"#, "17")] {
            let event = Event::parse(packet).expect("an event");
            assert_eq!((event.ack, event.name, event.payload), (ack, "message", r#"{"id":"a"}"#));
        }
        assert!(Event::parse("40{\"sid\":\"x\"}").is_none());
    }
}
