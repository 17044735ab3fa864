//! Flows held against lines of text.

use std::time::Duration;

use flowsdk::core::flow::simulator::Script;
use flowsdk::{Flow, InvalidFlow};

const RECEPTION: &str = include_str!("../../examples/flows/reception.json");

#[test]
fn a_contact_taps_by_title_and_by_id() {
    let flow = Flow::from_json(RECEPTION).expect("a flow");
    for choice in ["My order", "order"] {
        let mut conversation = flow.conversation();
        let greeting = conversation.say("hi");
        assert_eq!(greeting.texts(), ["Hello!", "What is it about?"]);
        assert_eq!((greeting.end(), greeting.messages().len()), ("waiting", 2));
        let reply = conversation.tap(choice);
        assert_eq!(reply.error(), None);
        assert_ne!(reply.texts(), greeting.texts());
    }
}

#[test]
fn a_contact_has_the_name_of_the_script() {
    let flow = Flow::from_json(
        r#"{ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content",
            "contents": [{ "type": "text", "text": { "body": "Hello {{contact.name}}!" } }], "defaultOutput": { "end": true } }] }"#,
    )
    .expect("a flow");
    let script = Script { contact_name: Some("Bia".to_owned()), ..Script::default() };
    assert_eq!(flow.conversation_with(&script).say("hi").texts(), ["Hello Bia!"]);
}

#[test]
fn a_conversation_that_ended_begins_again() {
    let flow = Flow::from_json(
        r#"{ "schemaVersion": 1, "startBlockId": "a", "blocks": [{ "id": "a", "type": "content",
            "contents": [{ "type": "text", "text": { "body": "Bye" } }], "defaultOutput": { "end": true } }] }"#,
    )
    .expect("a flow")
    .named("Goodbye");
    assert_eq!(flow.name(), "Goodbye");
    let mut conversation = flow.conversation();
    assert!(!conversation.has_ended());
    for _ in 0..2 {
        assert_eq!(conversation.say("hi").texts(), ["Bye"]);
        assert!(conversation.has_ended());
    }
}

#[test]
fn time_passes_by_hand() {
    let flow = Flow::from_json(
        r#"{ "schemaVersion": 1, "startBlockId": "a", "settings": { "inputTimeoutMs": 60000 }, "blocks": [
            { "id": "a", "type": "content", "contents": [{ "type": "text", "text": { "body": "Well?" } }],
              "input": { "variable": "said", "timeoutTarget": { "blockId": "late" } },
              "defaultOutput": { "end": true } },
            { "id": "late", "type": "content", "contents": [{ "type": "text", "text": { "body": "Too late" } }],
              "defaultOutput": { "end": true } }] }"#,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let mut conversation = flow.conversation();
    conversation.say("hi");
    assert_eq!(conversation.wait(Duration::from_secs(61)).texts(), ["Too late"]);
}

#[test]
fn an_invalid_definition_tells_where() {
    for (json, told) in [
        ("{", "the definition is not JSON"),
        ("[]", "the definition has errors"),
        (r#"{ "schemaVersion": 1, "startBlockId": "nowhere", "blocks": [] }"#, "startBlockId"),
    ] {
        let error = Flow::from_json(json).expect_err("no flow");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(format!("{error:?}"), error.to_string(), "a `main` that returns it prints this");
    }
    assert!(matches!(Flow::from_file("/nowhere.json"), Err(InvalidFlow::File(_))));
}
