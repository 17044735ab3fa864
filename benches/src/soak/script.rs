//! The conversation of the soak: the flow, and the answers that it owes to each text.
//!
//! A text is a kind, a visitor and a number, such as `ask v3 17`, so each is unique.

use serde_json::{Value, json};

/// The kinds of messages that visitors write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Is answered.
    Say,
    /// Is answered by two messages.
    Twice,
    /// Is answered after a request to the outside.
    Ask,
    /// Is answered, and once more when the time is over in which nothing was written.
    Wait,
    /// Is answered, and ends the session.
    End,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Say, Self::Twice, Self::Ask, Self::Wait, Self::End];

    /// The first word of the text.
    fn word(self) -> &'static str {
        match self {
            Self::Say => "say",
            Self::Twice => "twice",
            Self::Ask => "ask",
            Self::Wait => "wait",
            Self::End => "end",
        }
    }

    pub(super) fn of(text: &str) -> Option<Self> {
        let word = text.split(' ').next()?;
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether other messages may be stored between a message and its answers.
    pub(super) fn lets_others_in(self) -> bool {
        self == Self::Ask
    }
}

/// Returns the text of a visitor's message.
pub(super) fn text(kind: Kind, visitor: &str, number: usize) -> String {
    format!("{} {visitor} {number}", kind.word())
}

/// Returns the answers that a text is owed, in order, each as [`answer_key`] has it.
pub(super) fn answers(text: &str) -> Vec<String> {
    match Kind::of(text) {
        None => Vec::new(),
        Some(Kind::Say) => vec![format!("echo {text}")],
        Some(Kind::Twice) => vec![format!("first {text}"), format!("second {text}")],
        Some(Kind::Ask) => vec![format!("asked {text}")],
        Some(Kind::Wait) => vec![format!("armed {text}"), format!("rang {text}")],
        Some(Kind::End) => vec![format!("bye {text}")],
    }
}

/// Returns the block on which a session waits when it has answered a text; `None` when the session is over.
pub(super) fn block_after(text: &str) -> Option<&'static str> {
    match Kind::of(text) {
        Some(Kind::End) => None,
        Some(Kind::Wait) => Some("rang"),
        Some(kind) => Some(kind.word()),
        None => Some("unknown"),
    }
}

/// Returns an answer without the result of the request, which is empty when the request failed.
pub(super) fn answer_key(answer: &str) -> &str {
    answer.split_once(", got ").map_or(answer, |(key, _)| key)
}

/// Returns the definition of the flow, whose requests go to `outside`.
pub(super) fn definition(outside: &str) -> Value {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    let says = |body: &str| json!({ "type": "text", "text": { "body": body } });
    let block = |id: &str, texts: &[&str], output: Value| {
        let contents: Vec<Value> = texts.iter().map(|text| says(text)).collect();
        json!({ "id": id, "type": "content", "contents": contents, "defaultOutput": output })
    };
    let asks = |mut block: Value| {
        block["input"] = json!({ "variable": "said" });
        block
    };
    let routes: Vec<Value> = Kind::ALL
        .iter()
        .map(|kind| {
            json!({ "id": kind.word(), "target": { "blockId": kind.word() },
                    "conditions": [{ "source": { "type": "input" }, "comparator": "startsWith",
                                     "values": [format!("{} ", kind.word())] }] })
        })
        .collect();
    let next = json!({ "blockId": "route" });
    let mut route = block("route", &[], json!({ "blockId": "unknown" }));
    route["outputConditions"] = Value::Array(routes);
    let mut ask = asks(block("ask", &["asked {{asked}}, got {{got}}"], next.clone()));
    ask["onEnter"] = json!([
        { "type": "setVariable", "key": "asked", "value": "{{input}}" },
        { "type": "httpRequest", "url": format!("{outside}/answer?text={{{{asked}}}}"), "timeoutMs": 2_000,
          "response": [{ "path": "got", "variable": "got" }], "errorVariable": "askError", "continueOnError": true }
    ]);
    let mut wait = asks(block("wait", &["armed {{input}}"], next.clone()));
    wait["onEnter"] = json!([{ "type": "setVariable", "key": "armed", "value": "{{input}}" }]);
    wait["input"]["timeoutMs"] = json!(1_500);
    wait["input"]["timeoutTarget"] = json!({ "blockId": "rang" });
    json!({
        "schemaVersion": 1, "startBlockId": "route", "settings": { "inputTimeoutMs": DAY },
        "blocks": [
            route,
            asks(block("say", &["echo {{input}}"], next.clone())),
            asks(block("twice", &["first {{input}}", "second {{input}}"], next.clone())),
            ask,
            wait,
            asks(block("rang", &["rang {{armed}}"], next.clone())),
            block("end", &["bye {{input}}"], json!({ "end": true })),
            asks(block("unknown", &["unknown {{input}}"], next)),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowsdk_core::flow::FlowDefinition;

    #[test]
    fn each_kind_is_found_by_its_text_and_owed_answers() {
        for kind in Kind::ALL {
            let text = text(kind, "v3", 17);
            assert_eq!(Kind::of(&text), Some(kind));
            assert!(!answers(&text).is_empty());
            let known = definition("http://127.0.0.1:9").to_string();
            let block = block_after(&text).unwrap_or("end");
            assert!(known.contains(&format!("\"id\":\"{block}\"")), "{block}");
        }
        assert_eq!(answers("ask v3 17"), ["asked ask v3 17"]);
        assert_eq!(answer_key("asked ask v3 17, got 17"), "asked ask v3 17");
        assert_eq!(answer_key("asked ask v3 17, got "), "asked ask v3 17");
    }

    #[test]
    fn the_flow_can_be_published() {
        let flow = FlowDefinition::parse(&definition("http://127.0.0.1:9")).expect("a definition");
        let problems = flow.validate();
        assert!(!problems.iter().any(|problem| problem.is_error()), "{problems:?}");
    }
}
