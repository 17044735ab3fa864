use serde_json::{Value, json};

use super::*;

fn found(components: &Value) -> Vec<String> {
    let components: Vec<Component> =
        serde_json::from_value(components.clone()).expect("the provider's shape");
    validate(&components).into_iter().map(|(field, _)| field).collect()
}

#[test]
fn what_the_provider_takes_is_taken_and_written_back_the_same() {
    for good in [
        json!([{ "type": "BODY", "text": "Olá" }]),
        json!([
            { "type": "HEADER", "format": "TEXT", "text": "Pedido {{1}}", "example": { "header_text": ["7"] } },
            { "type": "BODY", "text": "Olá {{1}}, o pedido {{2}} saiu.", "example": { "body_text": [["Ana", "7"]] } },
            { "type": "FOOTER", "text": "Loja" },
            { "type": "BUTTONS", "buttons": [
                { "type": "QUICK_REPLY", "text": "Parar" },
                { "type": "URL", "text": "Ver", "url": "https://a.example/{{1}}", "example": ["https://a.example/7"] },
                { "type": "PHONE_NUMBER", "text": "Ligar", "phone_number": "+5511987654321" },
                { "type": "COPY_CODE", "example": "A7" },
                { "type": "OTP", "otp_type": "COPY_CODE" },
                { "type": "FLOW", "text": "Abrir", "flow_id": "7" },
                { "type": "FLOW", "text": "Abrir", "flow_id": "7", "flow_action": "data_exchange" },
                { "type": "FLOW", "text": "Abrir", "flow_id": "7", "flow_action": "navigate", "navigate_screen": "A" },
                { "type": "CATALOG", "text": "Ver" },
                { "type": "MPM", "text": "Ver" },
            ] },
        ]),
        json!([{ "type": "HEADER", "format": "IMAGE", "example": { "header_handle": ["4::a"] } }, { "type": "BODY", "text": "a" }]),
        json!([{ "type": "HEADER", "format": "LOCATION" }, { "type": "BODY", "text": "é".repeat(1024) }]),
    ] {
        assert!(found(&good).is_empty(), "{good}: {:?}", found(&good));
        let components: Vec<Component> = serde_json::from_value(good.clone()).expect("the provider's shape");
        assert_eq!(json!(components), good);
    }
}

#[test]
fn what_he_refuses_is_found() {
    let body = json!({ "type": "BODY", "text": "Olá" });
    let with = |component: Value| json!([body, component]);
    let buttons = |buttons: Value| with(json!({ "type": "BUTTONS", "buttons": buttons }));
    let reply = json!({ "type": "QUICK_REPLY", "text": "a" });
    let url = |url: &str| buttons(json!([{ "type": "URL", "text": "a", "url": url }]));
    for (components, fields) in [
        (json!([]), &["components"][..]),
        (
            buttons(json!([
                { "type": "FLOW", "text": "a", "flow_id": "", "navigate_screen": "" },
                { "type": "FLOW", "text": "a", "flow_id": "7", "flow_action": "data_exchange", "navigate_screen": "A" },
            ])),
            &[
                "components[1].buttons[0].flow_id",
                "components[1].buttons[0].navigate_screen",
                "components[1].buttons[1].navigate_screen",
            ],
        ),
        (with(body.clone()), &["components[1]"]),
        (json!([{ "type": "BODY", "text": " " }]), &["components[0].text"]),
        (json!([{ "type": "BODY", "text": "a".repeat(1025) }]), &["components[0].text"]),
        (json!([{ "type": "BODY", "text": "a {{2}} b" }]), &["components[0].text"]),
        (json!([{ "type": "BODY", "text": "a {{name}} b" }]), &["components[0].text"]),
        (json!([{ "type": "BODY", "text": "{{1}} b" }]), &["components[0].text"]),
        (json!([{ "type": "BODY", "text": "b {{1}}" }]), &["components[0].text"]),
        (
            json!([{ "type": "BODY", "text": "a {{1}} b", "example": { "body_text": [["a"], [], ["a", "b"]] } }]),
            &["components[0].example.body_text[1]", "components[0].example.body_text[2]"],
        ),
        (with(json!({ "type": "HEADER", "format": "TEXT" })), &["components[1].text"]),
        (
            with(json!({ "type": "HEADER", "format": "TEXT", "text": "a".repeat(61) })),
            &["components[1].text"],
        ),
        (with(json!({ "type": "HEADER", "format": "TEXT", "text": "{{1}}{{2}}" })), &["components[1].text"]),
        (
            with(json!({ "type": "HEADER", "format": "TEXT", "text": "a {{1}}", "example": {} })),
            &["components[1].example.header_text"],
        ),
        (with(json!({ "type": "HEADER", "format": "IMAGE", "text": "a" })), &["components[1].text"]),
        (with(json!({ "type": "FOOTER", "text": "a".repeat(61) })), &["components[1].text"]),
        (with(json!({ "type": "FOOTER", "text": "{{1}}" })), &["components[1].text"]),
        (buttons(json!([])), &["components[1].buttons"]),
        (buttons(json!(vec![reply; 11])), &["components[1].buttons"]),
        (
            buttons(json!([{ "type": "QUICK_REPLY", "text": "a".repeat(26) }])),
            &["components[1].buttons[0].text"],
        ),
        (buttons(json!([{ "type": "QUICK_REPLY", "text": "{{1}}" }])), &["components[1].buttons[0].text"]),
        (url("javascript:alert(1)"), &["components[1].buttons[0].url"]),
        (url("https://a.example/{{1}}/b"), &["components[1].buttons[0].url"]),
        (url("https://a.example/{{2}}"), &["components[1].buttons[0].url"]),
        (
            buttons(json!([{ "type": "PHONE_NUMBER", "text": "a", "phone_number": "call me" }])),
            &["components[1].buttons[0].phone_number"],
        ),
        (buttons(json!([{ "type": "OTP", "otp_type": "MAGIC" }])), &["components[1].buttons[0].otp_type"]),
    ] {
        assert_eq!(found(&components), fields, "{components}");
    }
}
