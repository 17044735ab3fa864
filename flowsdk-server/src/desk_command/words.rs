//! Messages and tickets in a few words.

use serde_json::Value;

/// Returns what a message says. `node` has the content under its type, as messages do; of files it is the caption.
pub(super) fn said(kind: &str, node: &Value) -> String {
    let content = &node[kind];
    let text = match kind {
        "text" => &content["body"],
        "interactive" => reply(content),
        "button" => &content["text"],
        _ => &content["caption"],
    };
    match text.as_str().filter(|text| !text.is_empty()) {
        Some(text) if ["text", "interactive", "button"].contains(&kind) => text.to_owned(),
        Some(caption) => format!("[{kind}] {caption}"),
        None => format!("[{kind}]"),
    }
}

/// Returns the text of a question with buttons, or the title of what was tapped.
fn reply(content: &Value) -> &Value {
    let tapped = content["type"].as_str().map_or(&Value::Null, |kind| &content[kind]["title"]);
    if tapped.is_null() { &content["body"]["text"] } else { tapped }
}

/// Returns a duration as `40 s`, `3 min` or `2 h`.
pub(super) fn duration(milliseconds: i64) -> String {
    match milliseconds / 1_000 {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds if seconds < 3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// Returns `1 ticket`, `2 tickets` and so on.
pub(super) fn tickets(count: i64) -> String {
    if count == 1 { "1 ticket".to_owned() } else { format!("{count} tickets") }
}

/// Returns a field that is a text, or nothing.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_in_a_few_words() {
        for (kind, node, expected) in [
            ("text", json!({ "text": { "body": "hi" } }), "hi"),
            (
                "interactive",
                json!({ "interactive": { "type": "button_reply", "button_reply": { "id": "a", "title": "A" } } }),
                "A",
            ),
            (
                "interactive",
                json!({ "interactive": { "type": "button", "body": { "text": "Which?" } } }),
                "Which?",
            ),
            ("button", json!({ "button": { "payload": "y", "text": "Yes" } }), "Yes"),
            ("image", json!({ "image": { "caption": "see" } }), "[image] see"),
            ("audio", json!({ "audio": {} }), "[audio]"),
            ("text", json!({}), "[text]"),
        ] {
            assert_eq!(said(kind, &node), expected, "{kind}");
        }
    }

    #[test]
    fn durations_and_counts() {
        assert_eq!([0, 59_999, 60_000, 7_300_000].map(duration), ["0 s", "59 s", "1 min", "2 h"]);
        assert_eq!([0, 1, 2].map(tickets), ["0 tickets", "1 ticket", "2 tickets"]);
    }
}
