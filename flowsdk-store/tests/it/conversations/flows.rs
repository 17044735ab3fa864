//! Flow definitions.

use serde_json::{Value, json};

fn says(text: &str) -> Value {
    json!({ "type": "text", "text": { "body": text } })
}

/// A block that says something and waits for an answer.
fn asks(id: &str, text: &str) -> Value {
    let when = |text: &str| {
        json!({ "id": text, "title": text, "target": { "blockId": text },
            "conditions": [{ "source": { "type": "input" }, "comparator": "equals", "values": [text] }] })
    };
    json!({ "id": id, "type": "content", "contents": [says(text)],
        "input": { "variable": "answer", "timeoutMs": 60_000, "timeoutTarget": { "blockId": "late" } },
        "outputConditions": [when("bye"), when("loop"), when("name"), when("mail")], "defaultOutput": { "blockId": "echo" } })
}

/// A block that says something and goes on.
pub(crate) fn block(id: &str, text: &str, target: &Value) -> Value {
    json!({ "id": id, "type": "content", "contents": [says(text)], "defaultOutput": target })
}

pub(crate) fn flow_of(blocks: &[Value]) -> Value {
    json!({ "schemaVersion": 1, "startBlockId": blocks[0]["id"], "blocks": blocks })
}

/// Greets a contact who writes for the first time, then repeats their words, until they say `bye` (the chat is closed,
/// the session ends), `loop` (the session freezes) or nothing for a minute.
pub(crate) fn main_flow() -> Value {
    let mut bye = block("bye", "Bye", &json!({ "end": true }));
    bye["onEnter"] = json!([{ "type": "closeChat" }]);
    let mut name = asks("name", "Noted, {{contact.name}}");
    name["onEnter"] = json!([{ "type": "setContactVariable", "key": "named", "value": "x" },
        { "type": "setContactName", "value": "Ana" }]);
    let mut mail = asks("mail", "Kept");
    mail["onEnter"] = json!([{ "type": "setContactVariable", "key": "mail", "value": "a@b" }]);
    flow_of(&[
        asks("hello", "Hello {{plan}}"),
        asks("echo", "You said {{answer}}"),
        name,
        mail,
        bye,
        block("late", "Too late", &json!({ "end": true })),
        block("loop", "Round", &json!({ "flowId": "detour" })),
    ])
}
