//! Limits of messages.

use serde_json::{Value, json};

use super::of_block;

#[test]
fn messages_stay_within_the_limits_of_the_channel() {
    let button = |id: &str, title: &str| json!({ "type": "reply", "reply": { "id": id, "title": title } });
    let buttons = |buttons: Vec<Value>| {
        json!({ "type": "interactive", "interactive":
            { "type": "button", "body": { "text": "Pick" }, "action": { "buttons": buttons } } })
    };
    let row = |id: &str, title: &str| json!({ "id": id, "title": title });
    let list = |rows: Vec<Value>| {
        json!({ "type": "interactive", "interactive": { "type": "list", "body": { "text": "Pick" },
            "action": { "button": "Open", "sections": [{ "rows": rows }] } } })
    };
    let many = |count: usize| (0..count).map(|at| (format!("i{at}"), format!("t{at}"))).collect::<Vec<_>>();
    let say = |body: String| json!({ "type": "text", "text": { "body": body } });
    let b = "/blocks/0/contents/0/interactive/action/buttons";
    let s = "/blocks/0/contents/0/interactive/action/sections";
    for (message, expected) in [
        (say("é".repeat(4096)), None),
        (say("é".repeat(4097)), Some("too_long /blocks/0/contents/0/text/body".to_owned())),
        (say("a".repeat(4096) + "{{input}}"), None),
        (say(" ".into()), Some("empty_text /blocks/0/contents/0/text/body".into())),
        (buttons(many(3).iter().map(|(id, title)| button(id, title)).collect()), None),
        (
            buttons(many(4).iter().map(|(id, title)| button(id, title)).collect()),
            Some(format!("too_many_buttons {b}")),
        ),
        (buttons(vec![]), Some(format!("too_many_buttons {b}"))),
        (buttons(vec![button("a", &"t".repeat(20))]), None),
        (buttons(vec![button("a", &"t".repeat(21))]), Some(format!("too_long {b}/0/reply/title"))),
        (buttons(vec![button("a", "")]), Some(format!("empty_text {b}/0/reply/title"))),
        (buttons(vec![button("a", "x"), button("a", "y")]), Some(format!("duplicate_reply {b}/1/reply/id"))),
        (
            buttons(vec![button("a", "x"), button("b", "x")]),
            Some(format!("duplicate_title {b}/1/reply/title")),
        ),
        (buttons(vec![button("", "x")]), Some(format!("bad_reply_id {b}/0/reply/id"))),
        (list(many(10).iter().map(|(id, title)| row(id, title)).collect()), None),
        (
            list(many(11).iter().map(|(id, title)| row(id, title)).collect()),
            Some(format!("too_many_rows {s}")),
        ),
        (list(vec![]), Some(format!("too_many_rows {s}"))),
        (list(vec![row("a", &"t".repeat(24))]), None),
        (list(vec![row("a", &"t".repeat(25))]), Some(format!("too_long {s}/0/rows/0/title"))),
        (list(vec![row("a", "x"), row("a", "y")]), Some(format!("duplicate_reply {s}/0/rows/1/id"))),
        (
            json!({ "type": "image", "image": { "link": "ftp://x" } }),
            Some("bad_link /blocks/0/contents/0/image/link".into()),
        ),
        (json!({ "type": "document", "document": { "link": "{{input}}" } }), None),
    ] {
        let expected: Vec<String> = expected.into_iter().collect();
        assert_eq!(of_block(&json!({ "contents": [message] })), expected, "{message}");
    }
}

#[test]
fn what_an_anonymous_visitor_lacks_is_told() {
    let says = |body: &str| json!([{ "type": "text", "text": { "body": body } }]);
    let warned = ["anonymous_contact? /blocks/0/contents/0"];
    assert_eq!(of_block(&json!({ "contents": says("Hi {{contact.name}}") })), warned);
    assert_eq!(of_block(&json!({ "contents": says("{{contact.whatsapp.phoneNumber}}") })), warned);
    assert_eq!(of_block(&json!({ "contents": says("{{contact.city}}") })), [""; 0]);
    let named = json!([{ "type": "setContactName", "value": "Ana" }]);
    assert_eq!(of_block(&json!({ "onEnter": named, "contents": says("Hi {{contact.name}}") })), [""; 0]);
    let retry = json!({ "validation": { "kind": "email", "retryText": "{{contact.name}}?" } });
    assert_eq!(
        of_block(&json!({ "input": retry })),
        ["anonymous_contact? /blocks/0/input/validation/retryText"]
    );
}
