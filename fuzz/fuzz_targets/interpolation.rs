//! Texts with tokens: the input is the text of a block and what the contact says. No text panics, none grows without
//! bound, and what the contact says is never taken for a token.
#![no_main]

use flowsdk::Flow;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// Most bytes of a text that the engine makes.
const MAX_RENDERED: usize = 64 * 1024;

fuzz_target!(|texts: (String, String)| {
    let (text, said) = texts;
    let definition = json!({
        "schemaVersion": 1, "startBlockId": "a",
        "blocks": [
            { "id": "a", "type": "content", "title": "A", "position": { "x": 0, "y": 0 },
              "contents": [{ "type": "text", "text": { "body": "?" } }],
              "input": { "variable": "said" }, "defaultOutput": { "blockId": "b" } },
            { "id": "b", "type": "content", "title": "B", "position": { "x": 0, "y": 0 },
              "contents": [{ "type": "text", "text": { "body": "{{said}}" } },
                           { "type": "text", "text": { "body": text } }],
              "input": { "variable": "said" }, "defaultOutput": { "blockId": "b" } },
        ],
    });
    let Ok(flow) = Flow::from_value(definition) else {
        return;
    };
    let mut conversation = flow.conversation();
    conversation.say("oi");
    let reply = conversation.say(said.clone());
    for text in reply.texts() {
        assert!(text.len() <= MAX_RENDERED, "{} bytes", text.len());
    }
    if !said.trim().is_empty() && said.len() <= 1_000 && said.contains("{{") {
        assert_eq!(reply.texts().first().copied(), Some(said.as_str()), "a contact's text is inserted as it is");
    }
});
