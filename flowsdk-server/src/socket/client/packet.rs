//! The packets of the protocol, as texts: Engine.IO 4 around Socket.IO 5, in the default namespace.

use serde_json::Value;

/// The answer to [`Packet::Ping`].
pub const PONG: &str = "3";

/// The packet by which a client leaves.
pub const LEAVE: &str = "41";

/// A packet from a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Packet {
    /// The server asks whether the client is there, and expects [`PONG`].
    Ping,
    /// The CONNECT was accepted.
    Connected,
    /// The CONNECT was refused, with this payload.
    Refused(Value),
    /// The server emits an event.
    Event {
        /// The name of the event.
        name: String,
        /// The first argument, or null.
        payload: Value,
        /// The number of the answer that the server waits for.
        ack: Option<u64>,
    },
    /// The answer to an event of the client.
    Ack {
        /// The number that the client gave the event.
        id: u64,
        /// The first argument, or null.
        payload: Value,
    },
    /// The server has sent the client away.
    Left,
}

impl Packet {
    /// Reads a text of the websocket. Returns `None` for packets that a client has no use for, and for broken ones.
    pub fn read(text: &str) -> Option<Self> {
        let Some(rest) = text.strip_prefix('4') else {
            return (text == "2").then_some(Self::Ping);
        };
        let (kind, body) = (rest.chars().next()?, rest.get(1..)?);
        match kind {
            '0' => Some(Self::Connected),
            '1' => Some(Self::Left),
            '2' => {
                let (ack, mut arguments) = numbered(body)?;
                let name = arguments.next()?.as_str()?.to_owned();
                Some(Self::Event { name, payload: arguments.next().unwrap_or_default(), ack })
            }
            '3' => {
                let (id, mut arguments) = numbered(body)?;
                Some(Self::Ack { id: id?, payload: arguments.next().unwrap_or_default() })
            }
            '4' => Some(Self::Refused(serde_json::from_str(body).unwrap_or_default())),
            _ => None,
        }
    }
}

/// Returns the packet that asks to be let in with `auth`, a JSON text.
pub fn connect(auth: &str) -> String {
    format!("40{auth}")
}

/// Returns the packet of an event; `arguments` is a JSON list that begins with its name.
pub fn event(ack: Option<u64>, arguments: &str) -> String {
    let ack = ack.map(|id| id.to_string()).unwrap_or_default();
    format!("42{ack}{arguments}")
}

/// Returns the packet that answers an event of the server without arguments, as `ack()` of the stock client does.
pub fn acknowledge(ack: u64) -> String {
    format!("43{ack}[]")
}

/// Reads `12["a"]` as 12 and the list.
fn numbered(body: &str) -> Option<(Option<u64>, std::vec::IntoIter<Value>)> {
    let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (number, list) = body.split_at(end);
    let arguments: Vec<Value> = serde_json::from_str(list).ok()?;
    Some((number.parse().ok(), arguments.into_iter()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn packets_of_a_server() {
        let event = |payload: Value, ack| Some(Packet::Event { name: "news".to_owned(), payload, ack });
        for (text, expected) in [
            ("2", Some(Packet::Ping)),
            (r#"40{"sid":"x"}"#, Some(Packet::Connected)),
            (r#"44{"message":"no"}"#, Some(Packet::Refused(json!({ "message": "no" })))),
            (r#"42["news",{"a":1},2]"#, event(json!({ "a": 1 }), None)),
            (r#"4217["news"]"#, event(Value::Null, Some(17))),
            (r#"437[{"ok":true}]"#, Some(Packet::Ack { id: 7, payload: json!({ "ok": true }) })),
            ("437[]", Some(Packet::Ack { id: 7, payload: Value::Null })),
            ("41", Some(Packet::Left)),
            (r#"0{"sid":"x"}"#, None),
            ("6", None),
            ("2probe", None),
            ("43[]", None),
            (r#"42{"not":"a list"}"#, None),
            ("42[7]", None),
            ("42", None),
            ("4", None),
            ("4é", None),
            ("", None),
        ] {
            assert_eq!(Packet::read(text), expected, "{text}");
        }
    }

    #[test]
    fn packets_of_a_client() {
        assert_eq!(connect(r#"{"token":"t"}"#), r#"40{"token":"t"}"#);
        assert_eq!(event(None, r#"["a"]"#), r#"42["a"]"#);
        assert_eq!(event(Some(3), r#"["a",{}]"#), r#"423["a",{}]"#);
        assert_eq!(acknowledge(9), "439[]");
    }
}
