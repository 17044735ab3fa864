//! What the desk prints.

use serde_json::{Value, json};

/// Something to print: for people, and for programs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    text: String,
    json: Value,
}

impl Line {
    /// `json` is an object.
    pub(super) fn new(text: impl Into<String>, json: Value) -> Self {
        Self { text: text.into(), json }
    }

    /// Something that happened to the desk itself.
    pub(super) fn of_desk(event: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { json: json!({ "event": event, "message": text }), text }
    }

    /// A command that was not carried out.
    pub(super) fn refused(command: &str, code: &str, message: &str) -> Self {
        Self {
            text: format!("{command}: {message} ({code})"),
            json: json!({ "answer": command, "ok": false, "code": code, "message": message }),
        }
    }

    /// Returns the text to print; of JSON it is one line.
    pub(super) fn into_text(self, as_json: bool) -> String {
        if as_json { self.json.to_string() } else { self.text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_people_and_one_for_programs() {
        let refused = Line::refused("close", "ticket_closed", "It is closed");
        assert_eq!(refused.clone().into_text(false), "close: It is closed (ticket_closed)");
        assert_eq!(
            refused.into_text(true),
            r#"{"answer":"close","code":"ticket_closed","message":"It is closed","ok":false}"#
        );
        assert_eq!(
            Line::new("a\nb", json!({ "a": "a\nb" })).into_text(true).lines().count(),
            1,
            "one line, whatever is in it"
        );
    }
}
