//! Every token of the table (spec A 9).

use serde_json::{Value, json};

use super::{World, stop};

#[test]
fn every_token_of_the_table_has_its_value() {
    let world = World::new();
    let state = r#"[{"flow":{"id":"flow1","name":"Flow flow1"},"block":{"id":"first","name":"Block first"}},{"flow":{"id":"flow1","name":"Flow flow1"},"block":{"id":"second","name":"Block second"}}]"#
        .to_owned();
    let state: Value = serde_json::from_str(&state).expect("JSON");
    let state = state.to_string();
    for (token, expected) in [
        ("router.brand", "ACME"),
        ("router.absent", ""),
        ("flow.promo", "X1"),
        ("flow.absent", ""),
        ("contact.name", "Ana"),
        ("contact.phoneNumber", "5511999"),
        ("contact.whatsapp.name", "Ana"),
        ("contact.whatsapp.phoneNumber", "5511999"),
        ("contact.whatsapp", r#"{"name":"Ana","phoneNumber":"5511999"}"#),
        ("contact.whatsapp.other", ""),
        ("contact.city", "Recife"),
        ("contact.address.zip", "50000"),
        ("contact.address.lines.1", "b"),
        ("contact.address.lines", r#"["a","b"]"#),
        ("contact.absent", ""),
        ("contact.variables.city", "Recife"),
        ("contact.variables.address.zip", "50000"),
        ("contact.variables.name", "shadowed"),
        ("contact.variables.phoneNumber", "shadowed"),
        ("contact.variables.whatsapp.name", "x"),
        ("contact.variables.variables", "inner"),
        ("input", "hello"),
        ("input.type", "text"),
        ("input.content", "hello"),
        ("inputMessage", "hello"),
        ("lastInput", "hello"),
        ("input.media.id", ""),
        ("input.media.mimeType", ""),
        ("input.interactive.type", ""),
        ("input.interactive.id", ""),
        ("input.interactive.title", ""),
        ("input.other", ""),
        ("system.now", "2026-11-19T10:57:00.050Z"),
        ("system.other", ""),
        ("session.flowId", "flow1"),
        ("session.routerId", "router1"),
        ("session.blockId", "second"),
        ("session.currentBlockId", "second"),
        ("session.chatId", "chat1"),
        ("session.contactId", "contact1"),
        ("session.mode", "flow"),
        ("session.source", "webchat"),
        ("session.contactIdentity", "wc-chan-visitor"),
        ("session.currentFlow.id", "flow1"),
        ("session.currentFlow.name", "Main"),
        ("session.currentBlock.id", "second"),
        ("session.currentBlock.name", "Block second"),
        ("session.previousBlock.id", "first"),
        ("session.previousBlock.name", "Block first"),
        ("session.sessionHistory", state.as_str()),
        ("session.sessionHistory.0.block.id", "first"),
        ("session.variables.order.total", "10"),
        ("session.variables.list", r#"[1,"two"]"#),
        ("session.expiryTimeout", "1800000"),
        ("session.startedAt", "1795085820050"),
        ("session.lastInteractionAt", "1795085820050"),
        ("session.redirectHistory.0.blockId", "jumped"),
        ("session.*", ""),
        ("session.absent.path", ""),
        ("name", "Bia"),
        ("count", "3"),
        ("ok", "true"),
        ("ratio", "1.5"),
        ("nothing", ""),
        ("absent", ""),
        ("absent.path.0", ""),
        ("order.items.1.sku", "B2"),
        ("order.items.9.sku", ""),
        ("order.items.-1", ""),
        ("order.total.deeper", ""),
        ("list", r#"[1,"two"]"#),
        ("list.0", "1"),
        ("contact", "bare"),
        ("ticket", r#"{"exit":{"key":"solved","survey":{"score":5}},"id":"t1"}"#),
        ("ticket.id", "t1"),
        ("ticket.exit.key", "solved"),
        ("ticket.exit.survey", r#"{"score":5}"#),
        ("handoffDeflect.reason", "closed"),
        ("handoffDeflect.detail", "after hours"),
        ("", ""),
        (".", ""),
        ("..", ""),
        ("router.", ""),
        ("contact.", ""),
    ] {
        let rendered = world.render(&format!("<{{{{{token}}}}}>"));
        assert_eq!(rendered, format!("<{expected}>"), "{{{{{token}}}}}");
        let spaced = world.render(&format!("<{{{{ \t{token}\n}}}}>"));
        assert_eq!(spaced, format!("<{expected}>"), "{{{{ {token} }}}} with spaces");
    }
}

#[test]
fn input_tokens_follow_the_type_of_the_message() {
    let media = json!({ "id": "m1", "mime_type": "image/png", "caption": "look", "sha256": "ff" });
    let button = json!({ "type": "interactive",
        "interactive": { "type": "button_reply", "button_reply": { "id": "yes", "title": "Sim" } } });
    let row = json!({ "type": "interactive",
        "interactive": { "type": "list_reply", "list_reply": { "id": "r1", "title": "Row" } } });
    for (input, token, expected) in [
        (json!({ "type": "image", "image": media }), "input.type", "image"),
        (json!({ "type": "text", "text": { "body": "oi" } }), "input.id", "m1"),
        (json!({ "type": "text", "text": { "body": "oi" } }), "input.id.x", ""),
        (json!({ "type": "image", "image": media }), "input.media.id", "m1"),
        (json!({ "type": "image", "image": media }), "input.media.mimeType", "image/png"),
        (json!({ "type": "image", "image": media }), "input.media.sha256", "ff"),
        (json!({ "type": "image", "image": media }), "input", "look"),
        (json!({ "type": "audio", "audio": media }), "input.type", "audio"),
        (json!({ "type": "video", "video": media }), "input.type", "video"),
        (json!({ "type": "document", "document": media }), "input.type", "document"),
        (json!({ "type": "sticker", "sticker": media }), "input.media.id", "m1"),
        (json!({ "type": "location", "location": {} }), "input.type", "location"),
        (json!({ "type": "reaction", "reaction": {} }), "input.type", "reaction"),
        (json!({ "type": "contacts", "contacts": [] }), "input.type", "contacts"),
        (json!({ "type": "button", "button": { "text": "Ok" } }), "input.type", "button"),
        (json!({ "type": "button", "button": { "text": "Ok" } }), "input", "Ok"),
        (button.clone(), "input.type", "interactive"),
        (button.clone(), "input.interactive.type", "button_reply"),
        (button.clone(), "input.interactive.id", "yes"),
        (button.clone(), "input.interactive.title", "Sim"),
        (button, "input", "Sim"),
        (row.clone(), "input.interactive.type", "list_reply"),
        (row, "input.interactive.id", "r1"),
    ] {
        let world = World::new().hearing(input.clone());
        assert_eq!(world.render(&format!("{{{{{token}}}}}")), expected, "{token} of {input}");
    }
    let mut silent = World::new();
    silent.input = None;
    assert_eq!(silent.render("{{input}}{{input.type}}{{inputMessage}}|{{lastInput}}"), "|before");
}

#[test]
fn the_first_stop_has_no_previous_block() {
    let mut world = World::new();
    world.session.history = vec![stop("second")];
    assert_eq!(world.render("{{session.previousBlock.id}}"), "");
    // On the way to the next block the stop just left is the previous one.
    world.session.position.as_mut().expect("set").waiting = None;
    assert_eq!(world.render("{{session.previousBlock.id}}"), "second");
}
