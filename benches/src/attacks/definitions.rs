//! The flows of the trials.

use std::net::SocketAddr;

use serde_json::{Value, json};

/// What the blocks of [`talk`] do before they answer, in their order.
pub(crate) const KINDS: [&str; 3] = ["nothing", "script", "request"];

/// The flow of the other tenant: an answer, one with a script, one with a request, in a ring.
pub(crate) fn talk(quick: SocketAddr) -> Value {
    let script = json!({ "type": "executeScript", "script": "40 + 2", "variable": "sum" });
    let request = json!({ "type": "httpRequest", "url": format!("http://{quick}/"),
        "response": [{ "variable": "fetched" }] });
    ring(&[
        ("said", json!([]), "1 {{input}}"),
        ("summed", json!([script]), "2 {{input}} {{sum}}"),
        ("fetched", json!([request]), "3 {{input}} {{fetched}}"),
    ])
}

/// The right answer to message `n`, from 1, of a visitor of [`talk`].
pub(crate) fn answer(n: u64, text: &str) -> String {
    match (n - 1) % 3 {
        0 => format!("1 {text}"),
        1 => format!("2 {text} 42"),
        _ => format!("3 {text} 42"),
    }
}

/// Turns that use up their budget with patterns over a long text.
pub(crate) fn patterns(count: usize) -> Value {
    let outputs: Vec<Value> =
        (0..count).map(|n| output("long", "matches", &format!("[ab]*a[ab]{{400}}c{n}"))).collect();
    costly(&"ab".repeat(30_000), &outputs)
}

/// Turns that use up their budget with searches in a long text.
pub(crate) fn searches() -> Value {
    let outputs: Vec<Value> = (0..500).map(|n| output("long", "contains", &format!("x{n}"))).collect();
    costly(&"ab".repeat(30_000), &outputs)
}

/// Scripts that run until they are killed.
pub(crate) fn scripts() -> Value {
    let script = "'a'.repeat(8e6).includes('a'.repeat(4e6) + 'b')";
    let action = json!({ "type": "executeScript", "script": script, "variable": "v", "errorVariable": "e",
        "continueOnError": true });
    ring(&[("slow", json!([action]), "{{e}}")])
}

/// Requests to a server that does not answer.
pub(crate) fn requests(silent: SocketAddr) -> Value {
    let action = json!({ "type": "httpRequest", "url": format!("http://{silent}/"), "timeoutMs": 30_000,
        "errorVariable": "e", "continueOnError": true });
    ring(&[("silent", json!([action]), "{{e}}")])
}

/// Sessions that store as much as they may.
pub(crate) fn variables() -> Value {
    let store = |n: usize| {
        json!({ "type": "setVariable", "key": format!("v{n}"), "value": "x".repeat(60_000),
            "continueOnError": true })
    };
    let all: Vec<Value> = (0..5).map(store).collect();
    ring(&[("stores", json!(all), "{{input}}")])
}

/// A draft with far more patterns than a flow may have.
pub(crate) fn too_many_patterns() -> Value {
    let outputs: Vec<Value> =
        (0..900).map(|n| output("x", "matches", &format!("(?i:\\pL{{1,50}}é{n}){{1,8}}"))).collect();
    costly("x", &outputs)
}

/// An import of about 9 MB in more values than are read.
pub(crate) fn import() -> Value {
    let value = json!({ "a": { "b": {} } });
    json!({ "format": "flowsdk", "x": vec![value; 500_000] })
}

fn output(key: &str, comparator: &str, value: &str) -> Value {
    json!({ "conditions": [{ "source": { "type": "context", "key": key }, "comparator": comparator,
        "values": [value] }], "target": { "end": true } })
}

/// A block that answers; each further message passes through `outputs`, which cost about as much as a turn may.
fn costly(long: &str, outputs: &[Value]) -> Value {
    json!({ "schemaVersion": 1, "startBlockId": "begin", "blocks": [
        { "id": "begin", "type": "content",
          "onEnter": [{ "type": "setVariable", "key": "long", "value": long }],
          "contents": [{ "type": "text", "text": { "body": "begin" } }], "input": {},
          "defaultOutput": { "blockId": "work" } },
        { "id": "work", "type": "content", "outputConditions": outputs,
          "defaultOutput": { "blockId": "again" } },
        { "id": "again", "type": "content", "contents": [{ "type": "text", "text": { "body": "again" } }],
          "input": {}, "defaultOutput": { "blockId": "work" } },
    ] })
}

/// Blocks that each act, answer and wait, in a ring.
fn ring(blocks: &[(&str, Value, &str)]) -> Value {
    let of = |at: usize| {
        let (id, actions, text) = &blocks[at];
        let next = blocks[(at + 1) % blocks.len()].0;
        json!({ "id": id, "type": "content", "onEnter": actions,
            "contents": [{ "type": "text", "text": { "body": text } }],
            "input": {}, "defaultOutput": { "blockId": next } })
    };
    let all: Vec<Value> = (0..blocks.len()).map(of).collect();
    json!({ "schemaVersion": 1, "startBlockId": blocks[0].0, "blocks": all })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_larger_than_what_is_read_and_smaller_than_a_body() {
        let length = import().to_string().len();
        assert!((5 << 20..32 << 20).contains(&length), "{length}");
    }

    #[test]
    fn the_answers_go_round() {
        assert_eq!([1, 2, 3, 4].map(|n| answer(n, "oi")), ["1 oi", "2 oi 42", "3 oi 42", "1 oi"]);
    }
}
