//! Every comparator and every source of a condition.

use serde_json::{Value, json};

use super::stage::*;
use crate::message::IncomingMessage;

/// Returns whether the condition holds for a session that was sent `message`.
fn holds_for(condition: &Value, message: &IncomingMessage) -> bool {
    let mut stage = Stage::new(&flow_of(&[
        json!({ "id": "a", "type": "content", "defaultOutput": { "blockId": "no" },
            "outputConditions": [{ "conditions": [condition], "target": { "blockId": "yes" } }] }),
        json!({ "id": "yes", "type": "content", "contents": [text("yes")], "defaultOutput": { "end": true } }),
        json!({ "id": "no", "type": "content", "contents": [text("no")], "defaultOutput": { "end": true } }),
    ]));
    stage.session.variables = serde_json::from_value(json!({
        "name": "Bia", "n": 12, "flag": true, "nothing": null, "blank": "  ",
        "order": { "items": [{ "sku": "A1" }] } }))
    .expect("an object");
    stage.contact.variables =
        serde_json::from_value(json!({ "tier": { "level": "Gold" } })).expect("an object");
    match stage.send(message)[..] {
        [ref answer] => answer == "yes",
        _ => panic!("one answer"),
    }
}

fn holds(source: &str, comparator: &str, values: &[&str]) -> bool {
    let condition = json!({ "source": { "type": "input" }, "comparator": comparator, "values": values });
    holds_for(&condition, &IncomingMessage::text("m", source))
}

#[test]
fn every_comparator_holds_and_does_not() {
    for (source, comparator, values, expected) in [
        ("  SÃO Paulo ", "equals", &["sao paulo"][..], true),
        ("Rio", "equals", &["sp", "RIO"], true),
        ("Rio", "equals", &["sp"], false),
        ("01.50", "equals", &["1.5"], true),
        ("12345678901234567890", "equals", &["12345678901234567891"], false),
        ("20/11/2026", "equals", &["2026-11-20"], true),
        ("2026-11-20T00:00:00-03:00", "equals", &["2026-11-20"], true),
        ("9:30", "equals", &["09:30"], true),
        ("1e2", "equals", &["100"], false),
        ("Sim", "equals", &["{{input}}"], true),
        ("Sim", "equalsExact", &["Sim"], true),
        ("Sim", "equalsExact", &["sim"], false),
        ("Sim ", "equalsExact", &["Sim"], false),
        ("1.0", "equalsExact", &["1"], false),
        ("x", "notEquals", &["y", "z"], true),
        ("X", "notEquals", &["y", "x"], false),
        ("I want HELP now", "contains", &["help"], true),
        ("I want", "contains", &["help", "want"], true),
        ("I want", "contains", &["help"], false),
        ("I want", "contains", &[""], false),
        ("I want", "notContains", &["help", "stop"], true),
        ("I want", "notContains", &["help", "want"], false),
        ("Olá mundo", "startsWith", &["ola"], true),
        ("Olá mundo", "startsWith", &["mundo"], false),
        ("Olá mundo", "endsWith", &["MUNDO"], true),
        ("Olá mundo", "endsWith", &["ola"], false),
        ("order 123", "matches", &["\\d{3}"], true),
        ("order 12", "matches", &["^\\d{3}$", "x"], false),
        ("12", "greaterThan", &["9"], true),
        ("9", "greaterThan", &["12"], false),
        ("9", "greaterThan", &["12", "8"], true),
        ("9", "lessThan", &["12"], true),
        ("12", "lessThan", &["12"], false),
        ("12.0", "greaterOrEqual", &["12"], true),
        ("11.9", "greaterOrEqual", &["12"], false),
        ("12", "lessOrEqual", &["12.0"], true),
        ("13", "lessOrEqual", &["12"], false),
        ("21/11/2026", "greaterThan", &["2026-11-20"], true),
        ("2026-11-20T12:00:00Z", "lessThan", &["20/11/2026"], false),
        ("9:30", "lessThan", &["10:00"], true),
        ("banana", "greaterThan", &["apple"], true),
        ("many", "greaterThan", &["5"], false),
        ("many", "lessThan", &["5"], false),
        ("", "lessThan", &["a"], false),
        ("b", "in", &["a", "B", "c"], true),
        ("d", "in", &["a", "b", "c"], false),
        ("x", "exists", &[], true),
        (" ", "exists", &[], false),
        ("", "notExists", &[], true),
        ("x", "notExists", &[], false),
    ] {
        assert_eq!(holds(source, comparator, values), expected, "{source:?} {comparator} {values:?}");
    }
}

#[test]
fn every_source_is_read() {
    let cases = [
        (json!({ "type": "input" }), "equals", json!(["oi"]), true),
        (json!({ "type": "context", "key": "name" }), "equals", json!(["bia"]), true),
        (json!({ "type": "context", "key": "n" }), "greaterThan", json!([9]), true),
        (json!({ "type": "context", "key": "flag" }), "equals", json!([true]), true),
        (json!({ "type": "context", "key": "order.items.0.sku" }), "equals", json!(["a1"]), true),
        (json!({ "type": "context", "key": "order" }), "contains", json!(["sku"]), true),
        (json!({ "type": "context", "key": "nothing" }), "notExists", json!([]), true),
        (json!({ "type": "context", "key": "blank" }), "exists", json!([]), false),
        (json!({ "type": "context", "key": "absent" }), "notExists", json!([]), true),
        (json!({ "type": "context", "key": "absent" }), "notEquals", json!(["x"]), true),
        (json!({ "type": "context", "key": "absent.deep" }), "equals", json!(["x"]), false),
        (json!({ "type": "contact", "key": "tier.level" }), "equals", json!(["gold"]), true),
        (json!({ "type": "contact", "key": "absent" }), "exists", json!([]), false),
        (json!({ "type": "static", "value": "{{name}}-{{n}}" }), "equals", json!(["bia-12"]), true),
        (json!({ "type": "static", "value": "{{router.brand}}" }), "equals", json!(["acme"]), true),
        (json!({ "type": "system", "key": "now" }), "greaterThan", json!(["2026-11-19"]), true),
        (json!({ "type": "system", "key": "now" }), "greaterThan", json!(["2026-11-20"]), false),
        // 10:57 UTC on a Thursday is 07:57 in São Paulo.
        (json!({ "type": "system", "key": "weekday" }), "in", json!([1, 2, 3, 4, 5]), true),
        (json!({ "type": "system", "key": "weekday" }), "equals", json!([4]), true),
        (json!({ "type": "system", "key": "time" }), "equals", json!(["07:57"]), true),
        (json!({ "type": "system", "key": "time" }), "lessThan", json!(["8:00"]), true),
    ];
    for (source, comparator, values, expected) in cases {
        let condition = json!({ "source": source, "comparator": comparator, "values": values });
        assert_eq!(holds_for(&condition, &IncomingMessage::text("m", "oi")), expected, "{condition}");
    }
}

#[test]
fn a_tapped_reply_is_its_id_and_its_title() {
    let on = |comparator: &str, value: &str| {
        let condition = json!({ "source": { "type": "input" }, "comparator": comparator, "values": [value] });
        holds_for(&condition, &tapped("opt_3", "Três"))
    };
    assert!(on("equals", "opt_3") && on("equals", "tres"));
    assert!(!on("notEquals", "opt_3") && !on("notEquals", "Três") && on("notEquals", "x"));
    assert!(!on("greaterThan", "2"), "a word is not more than a number");
}
