//! Packets of Socket.IO, as a client reads and writes them.

use serde_json::Value;

/// A packet of the server, as far as a visitor reads it.
#[derive(Debug, PartialEq)]
pub(super) enum Packet {
    /// An event, and the number under which it wants to be acknowledged.
    Event { name: String, payload: Value, ack: Option<String> },
    /// The answer to the event with this number.
    Ack { number: u64, answer: Value },
    /// The server disconnects the visitor.
    Closed,
    /// Anything else.
    Other,
}

impl Packet {
    pub(super) fn parse(text: &str) -> Self {
        if let Some(rest) = text.strip_prefix("42") {
            let (ack, list) = numbered(rest);
            let mut items = list.into_iter();
            if let Some(Value::String(name)) = items.next() {
                let payload = items.next().unwrap_or_default();
                return Self::Event { name, payload, ack: (!ack.is_empty()).then(|| ack.to_owned()) };
            }
        } else if let Some(rest) = text.strip_prefix("43") {
            let (number, list) = numbered(rest);
            if let Ok(number) = number.parse() {
                return Self::Ack { number, answer: list.into_iter().next().unwrap_or_default() };
            }
        } else if text.starts_with("41") || text.starts_with("44") || text == "1" {
            return Self::Closed;
        }
        Self::Other
    }
}

/// The digits before a list, and the list.
fn numbered(text: &str) -> (&str, Vec<Value>) {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, list) = text.split_at(end);
    (digits, serde_json::from_str(list).unwrap_or_default())
}

/// Writes an event that wants to be acknowledged under `number`.
pub(super) fn event(number: u64, name: &str, payload: &Value) -> String {
    format!("42{number}[\"{name}\",{payload}]")
}

/// Acknowledges the event with this number.
pub(super) fn ack(number: &str) -> String {
    format!("43{number}[]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn packets_are_read() {
        let event = |ack: Option<&str>| Packet::Event {
            name: "message".to_owned(),
            payload: json!({ "list": [1] }),
            ack: ack.map(str::to_owned),
        };
        assert_eq!(Packet::parse(r#"42["message",{"list":[1]}]"#), event(None));
        assert_eq!(Packet::parse(r#"4217["message",{"list":[1]}]"#), event(Some("17")));
        assert_eq!(
            Packet::parse(r#"433[{"ok":true}]"#),
            Packet::Ack { number: 3, answer: json!({ "ok": true }) }
        );
        for closed in ["41", "44{}", "1"] {
            assert_eq!(Packet::parse(closed), Packet::Closed);
        }
        for other in ["", "0{}", "40{}", "6", "42", "42[1]", "43[]", "42[\"cut"] {
            assert_eq!(Packet::parse(other), Packet::Other, "{other}");
        }
    }

    #[test]
    fn packets_are_written() {
        assert_eq!(super::event(7, "message", &json!({ "text": "a" })), r#"427["message",{"text":"a"}]"#);
        assert_eq!(super::ack("7"), "437[]");
    }
}
