//! Every kind of validation: the accepted answers and their stored form.

use serde_json::{Value, json};

use super::stage::*;

/// The stored form of `answer`, or `None` when it is refused.
fn stored(validation: &Value, answer: &crate::message::IncomingMessage) -> Option<String> {
    let mut stage = Stage::new(&flow_of(&[json!({ "id": "ask", "type": "content",
        "input": { "variable": "v", "validation": validation }, "defaultOutput": { "end": true } })]));
    stage.start("oi");
    stage.send(answer);
    if stage.waiting() {
        assert_eq!(stage.variable("v"), Value::Null);
        return None;
    }
    stage.variable("v").as_str().map(str::to_owned)
}

#[test]
fn every_kind_accepts_and_refuses() {
    let text = json!({ "kind": "text", "minLength": 2, "maxLength": 4 });
    let any_text = json!({ "kind": "text" });
    let number = json!({ "kind": "number", "min": -5, "max": 10.5 });
    let integer = json!({ "kind": "number", "integer": true });
    let email = json!({ "kind": "email" });
    let date = json!({ "kind": "date" });
    let phone = json!({ "kind": "phone" });
    let options = json!({ "kind": "options", "options": ["Não", "sales"] });
    let regex = json!({ "kind": "regex", "pattern": "[A-Z]{3}|\\d{2}" });
    for (validation, answer, expected) in [
        (&text, "ab", Some("ab")),
        (&text, " çãéü ", Some("çãéü")),
        (&text, "a", None),
        (&text, "abcde", None),
        (&any_text, "x", Some("x")),
        (&any_text, "  ", None),
        (&number, "7", Some("7")),
        (&number, " 10,5 ", Some("10.5")),
        (&number, "10.6", None),
        (&number, "-5", Some("-5")),
        (&number, "-5.1", None),
        (&number, "1e1", None),
        (&number, "NaN", None),
        (&number, "inf", None),
        (&number, "1,000,0", None),
        (&number, "", None),
        (&number, "seven", None),
        (&integer, "12345678901234567890", Some("12345678901234567890")),
        (&integer, "3.0", Some("3.0")),
        (&integer, "3.5", None),
        (&email, "ana@example.com", Some("ana@example.com")),
        (&email, " a.b+c@sub.example.com.br ", Some("a.b+c@sub.example.com.br")),
        (&email, "ana@example", None),
        (&email, "ana.example.com", None),
        (&email, "a b@example.com", None),
        (&email, "a@b@example.com", None),
        (&email, "@example.com", None),
        (&email, "a@.com", None),
        (&email, "a..b@example.com", None),
        (&date, "2026-11-20", Some("2026-11-20")),
        (&date, "20/11/2026", Some("2026-11-20")),
        (&date, "29/02/2028", Some("2028-02-29")),
        (&date, "29/02/2027", None),
        (&date, "2026-13-01", None),
        (&date, "+1/-1/2026", None),
        (&date, "tomorrow", None),
        (&phone, "+55 (11) 99999-0000", Some("+5511999990000")),
        (&phone, "11 99999.0000", Some("11999990000")),
        (&phone, "1234567", None),
        (&phone, "1234567890123456", None),
        (&phone, "call me", None),
        (&options, "NAO", Some("Não")),
        (&options, " Sales ", Some("sales")),
        (&options, "sale", None),
        (&options, "", None),
        (&regex, "ABC", Some("ABC")),
        (&regex, "12", Some("12")),
        (&regex, "ABCD", None),
        (&regex, "x12", None),
    ] {
        let message = crate::message::IncomingMessage::text("m", answer);
        assert_eq!(stored(validation, &message).as_deref(), expected, "{validation} {answer:?}");
    }
}

#[test]
fn a_tapped_reply_is_judged_by_its_id_then_by_its_title() {
    let options = json!({ "kind": "options", "options": ["sales", "Suporte"] });
    for (id, title, expected) in
        [("sales", "Vendas", Some("sales")), ("opt_2", "SUPORTE", Some("Suporte")), ("opt_3", "Outros", None)]
    {
        assert_eq!(stored(&options, &tapped(id, title)).as_deref(), expected, "{id}/{title}");
    }
    assert_eq!(stored(&json!({ "kind": "number" }), &tapped("x", "3")).as_deref(), Some("3"));
}

#[test]
fn a_message_without_text_is_no_valid_text() {
    let sticker = json!({ "id": "m", "type": "sticker", "sticker": { "id": "1" } });
    let sticker = serde_json::from_value(sticker).expect("parses");
    assert_eq!(stored(&json!({ "kind": "text" }), &sticker), None);
}
