//! The table of tokens of the contract and the rules below it, line by line (spec A 9). Each case begins with the
//! token as the contract writes it.

use serde_json::{Value, json};

use super::{Template, View, World, object, stop};
use crate::flow::engine::stage::{Stage, flow_of, text};

/// The token of the contract, one that fits it, and its value in [`World::new`].
const TABLE: [(&str, &str, &str); 44] = [
    ("{{router.<key>}}", "{{router.brand}}", "ACME"),
    ("{{flow.<key>}}", "{{flow.promo}}", "X1"),
    ("{{contact.name}}", "{{contact.name}}", "Ana"),
    ("{{contact.phoneNumber}}", "{{contact.phoneNumber}}", "5511999"),
    ("{{contact.whatsapp.name}}", "{{contact.whatsapp.name}}", "Ana"),
    ("{{contact.whatsapp.phoneNumber}}", "{{contact.whatsapp.phoneNumber}}", "5511999"),
    ("{{contact.<key>}}", "{{contact.city}}", "Recife"),
    ("{{contact.<key>}}, nested path", "{{contact.address.zip}}", "50000"),
    ("{{contact.variables.<key>}}", "{{contact.variables.city}}", "Recife"),
    ("{{contact.variables.<key>}}, nested path", "{{contact.variables.address.lines.1}}", "b"),
    ("{{input}}", "{{input}}", "hello"),
    ("{{input.type}}", "{{input.type}}", "text"),
    ("{{input.content}}", "{{input.content}}", "hello"),
    ("{{inputMessage}}", "{{inputMessage}}", "hello"),
    ("{{lastInput}}", "{{lastInput}}", "hello"),
    ("{{input.media.id}}", "{{input.media.id}}", ""),
    ("{{input.media.mimeType}}", "{{input.media.mimeType}}", ""),
    ("{{input.interactive.type}}", "{{input.interactive.type}}", ""),
    ("{{input.interactive.id}}", "{{input.interactive.id}}", ""),
    ("{{input.interactive.title}}", "{{input.interactive.title}}", ""),
    ("{{system.now}}", "{{system.now}}", "2026-11-19T10:57:00.050Z"),
    ("{{session.flowId}}", "{{session.flowId}}", "flow1"),
    ("{{session.routerId}}", "{{session.routerId}}", "router1"),
    ("{{session.blockId}}", "{{session.blockId}}", "second"),
    ("{{session.chatId}}", "{{session.chatId}}", "chat1"),
    ("{{session.mode}}", "{{session.mode}}", "flow"),
    ("{{session.source}}", "{{session.source}}", "webchat"),
    ("{{session.contactIdentity}}", "{{session.contactIdentity}}", "wc-chan-visitor"),
    ("{{session.currentFlow.id}}", "{{session.currentFlow.id}}", "flow1"),
    ("{{session.currentFlow.name}}", "{{session.currentFlow.name}}", "Main"),
    ("{{session.currentBlock.id}}", "{{session.currentBlock.id}}", "second"),
    ("{{session.currentBlock.name}}", "{{session.currentBlock.name}}", "Block second"),
    ("{{session.previousBlock.id}}", "{{session.previousBlock.id}}", "first"),
    ("{{session.previousBlock.name}}", "{{session.previousBlock.name}}", "Block first"),
    (
        "{{session.sessionHistory}}",
        "{{session.sessionHistory}}",
        r#"[{"flow":{"id":"flow1","name":"Flow flow1"},"block":{"id":"only","name":"Block only"}}]"#,
    ),
    ("{{session.*}}", "{{session.variables.order.items.1.sku}}", "B2"),
    ("{{<varName>}}", "{{name}}", "Bia"),
    ("{{<varName>.<path>}}", "{{order.items.0.sku}}", "A1"),
    ("{{ticket}}", "{{ticket}}", r#"{"exit":{"key":"solved","survey":{"score":5}},"id":"t1"}"#),
    ("{{ticket.<field>}}", "{{ticket.id}}", "t1"),
    ("{{ticket.exit.key}}", "{{ticket.exit.key}}", "solved"),
    ("{{ticket.exit.survey}}", "{{ticket.exit.survey}}", r#"{"score":5}"#),
    ("{{handoffDeflect.reason}}", "{{handoffDeflect.reason}}", "closed"),
    ("{{handoffDeflect.detail}}", "{{handoffDeflect.detail}}", "after hours"),
];

#[test]
fn every_line_of_the_table() {
    let world = World::new();
    let mut alone = World::new();
    alone.session.history = vec![stop("only")];
    for (contract, token, expected) in TABLE {
        let world = if contract == "{{session.sessionHistory}}" { &alone } else { &world };
        // In the order of fields that this build of serde_json has.
        let expected = match serde_json::from_str::<Value>(expected) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value.to_string(),
            _ => expected.to_owned(),
        };
        assert_eq!(world.render(&format!("<{token}>")), format!("<{expected}>"), "{contract} as {token}");
    }
}

/// "type is one of text, image, audio, video, document, sticker, interactive, location, reaction, contacts, button".
#[test]
fn input_type_is_each_of_the_contracts() {
    let button = json!({ "type": "button_reply", "button_reply": { "id": "y", "title": "Sim" } });
    for (kind, node) in [
        ("text", json!({ "body": "x" })),
        ("image", json!({ "id": "m" })),
        ("audio", json!({ "id": "m" })),
        ("video", json!({ "id": "m" })),
        ("document", json!({ "id": "m" })),
        ("sticker", json!({ "id": "m" })),
        ("interactive", button),
        ("location", json!({ "latitude": 1.0, "longitude": 2.0 })),
        ("reaction", json!({ "message_id": "m", "emoji": "👍" })),
        ("contacts", json!([])),
        ("button", json!({ "text": "Ok", "payload": "p" })),
    ] {
        let world = World::new().hearing(json!({ "type": kind, kind: node }));
        assert_eq!(world.render("{{input.type}}"), kind);
    }
}

/// "Media and interactive input details".
#[test]
fn media_and_interactive_details() {
    let image = json!({ "type": "image", "image": { "id": "m1", "mime_type": "image/png" } });
    let row = json!({ "type": "interactive",
        "interactive": { "type": "list_reply", "list_reply": { "id": "r1", "title": "Linha" } } });
    for (input, token, expected) in [
        (&image, "{{input.media.id}}", "m1"),
        (&image, "{{input.media.mimeType}}", "image/png"),
        (&image, "{{input.interactive.id}}", ""),
        (&row, "{{input.interactive.type}}", "list_reply"),
        (&row, "{{input.interactive.id}}", "r1"),
        (&row, "{{input.interactive.title}}", "Linha"),
        (&row, "{{input.media.id}}", ""),
    ] {
        assert_eq!(World::new().hearing(input.clone()).render(token), expected, "{token}");
    }
}

/// "Tokens with an explicit prefix (router., flow., contact., input, system., session.) resolve first; unprefixed
/// tokens read session variables."
#[test]
fn explicit_prefixes_come_before_session_variables() {
    let mut world = World::new();
    world.session.variables = object(json!({
        "router": { "brand": "mine", "other": "mine" }, "flow": { "promo": "mine" },
        "contact": { "city": "mine", "other": "mine" }, "input": "mine", "inputMessage": "mine",
        "lastInput": "mine", "system": { "now": "mine", "other": "mine" },
        "session": { "mode": "mine", "other": "mine" }, "routers": "plural", "name": "plain",
    }));
    for (token, expected) in [
        ("{{router.brand}}", "ACME"),
        ("{{router.other}}", ""),
        ("{{flow.promo}}", "X1"),
        ("{{contact.city}}", "Recife"),
        ("{{contact.other}}", ""),
        ("{{input}}", "hello"),
        ("{{input.other}}", ""),
        ("{{inputMessage}}", "hello"),
        ("{{lastInput}}", "hello"),
        ("{{system.now}}", "2026-11-19T10:57:00.050Z"),
        ("{{system.other}}", ""),
        ("{{session.mode}}", "flow"),
        ("{{session.other}}", ""),
        ("{{routers}}", "plural"),
        ("{{name}}", "plain"),
    ] {
        assert_eq!(world.render(token), expected, "{token}");
    }
}

/// "A token whose value is missing is replaced by an empty string (never the literal token)."
#[test]
fn every_missing_value_is_an_empty_text() {
    let mut world = World::new();
    world.session.variables.clear();
    world.contact.variables.clear();
    world.session.history.clear();
    world.router.clear();
    world.flow.clear();
    world.input = None;
    let known =
        ["{{contact.name}}", "{{contact.phoneNumber}}", "{{contact.whatsapp", "{{system.", "{{session."];
    let missing = TABLE.iter().filter(|(_, token, _)| !known.iter().any(|prefix| token.starts_with(prefix)));
    let others = ["{{session.previousBlock.id}}", "{{session.previousBlock.name}}", "{{session.absent}}"];
    for token in missing.map(|(_, token, _)| *token).chain(others) {
        assert_eq!(world.render(&format!("<{token}>")), "<>", "{token}");
    }
}

/// "When the variable maps are missing the engine uses empty maps and execution continues."
#[test]
fn missing_variable_maps_are_empty_maps() {
    let mut world = World::new();
    world.router.clear();
    let view = View { flow_variables: None, ..world.view() };
    assert_eq!(Template::parse("{{router.brand}}|{{flow.promo}}|{{name}}").render(&view), "||Bia");
}

/// "A contact variable named `name`, `phoneNumber`, `whatsapp` or `variables` is shadowed by the reserved meanings
/// and is read through `{{contact.variables.<key>}}`."
#[test]
fn reserved_names_shadow_contact_variables() {
    let mut world = World::new();
    world.contact.variables = object(json!({
        "name": "v1", "phoneNumber": "v2", "whatsapp": "v3", "variables": { "city": "v4" }, "city": "Recife",
    }));
    for (token, expected) in [
        ("{{contact.name}}", "Ana"),
        ("{{contact.phoneNumber}}", "5511999"),
        ("{{contact.whatsapp}}", r#"{"name":"Ana","phoneNumber":"5511999"}"#),
        ("{{contact.variables.city}}", "Recife"),
        ("{{contact.variables.name}}", "v1"),
        ("{{contact.variables.phoneNumber}}", "v2"),
        ("{{contact.variables.whatsapp}}", "v3"),
        ("{{contact.variables.variables}}", r#"{"city":"v4"}"#),
        ("{{contact.variables.variables.city}}", "v4"),
    ] {
        assert_eq!(world.render(token), expected, "{token}");
    }
}

/// "The flow action `setContactName` writes `Contact.name` and sets `nameLocked` to true; an empty or whitespace
/// value is ignored."
#[test]
fn set_contact_name_locks_and_ignores_blanks() {
    for (value, name, locked) in [
        ("Bia", "Bia", true),
        (" Bia ", "Bia", true),
        ("", "Ana", false),
        (" \t\n", "Ana", false),
        ("{{absent}}", "Ana", false),
    ] {
        let mut stage = Stage::new(&flow_of(&[json!({ "id": "a", "type": "content",
            "onEnter": [{ "type": "setContactName", "value": value }],
            "contents": [text("{{contact.name}}")], "defaultOutput": { "end": true } })]));
        assert_eq!(stage.start("hi"), [name], "{value:?} is read in the same turn");
        assert_eq!((stage.contact.name.as_str(), stage.contact.name_locked), (name, locked), "{value:?}");
    }
}

/// "The action `setContactVariable` merges a key into `contactVariables`, and the new value is valid in the same
/// turn."
#[test]
fn set_contact_variable_merges_and_is_valid_in_the_same_turn() {
    let mut stage = Stage::new(&flow_of(&[json!({ "id": "a", "type": "content",
        "onEnter": [{ "type": "setContactVariable", "key": "city", "value": "{{input}}" }],
        "contents": [text("{{contact.city}} {{contact.variables.city}} {{contact.kept}}")],
        "defaultOutput": { "end": true } })]));
    stage.contact.variables = object(json!({ "kept": "k", "city": "Recife" }));
    assert_eq!(stage.start("Olinda"), ["Olinda Olinda k"]);
    assert_eq!(json!(stage.contact.variables), json!({ "kept": "k", "city": "Olinda" }));
}
