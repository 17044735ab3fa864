//! A template with the values of a message, as the app of a phone shows it.

use serde_json::{Value, json};

/// What a template for one-time codes says that has no words of its own.
const CODE_BODY: &str = "{{1}} is your verification code.";
const CODE_ADVICE: &str = " For your security, do not share this code.";

/// The values that a message gives to a template.
#[derive(Clone, Copy)]
struct Values<'a>(&'a Value);

impl<'a> Values<'a> {
    fn components(self, kind: &str) -> impl Iterator<Item = &'a Value> {
        let components = self.0["components"].as_array().into_iter().flatten();
        components.filter(move |component| is(&component["type"], kind))
    }

    /// Returns the parameters of the header or the body.
    fn of(self, kind: &str) -> Vec<&'a Value> {
        self.components(kind).flat_map(parameters).collect()
    }

    /// Returns the first parameter of a button.
    fn of_button(self, at: usize) -> &'a Value {
        let is_at = |component: &&Value| match &component["index"] {
            Value::String(index) => index.parse() == Ok(at),
            index => index.as_u64().and_then(|index| usize::try_from(index).ok()) == Some(at),
        };
        self.components("button")
            .find(is_at)
            .and_then(|button| parameters(button).next())
            .unwrap_or(&Value::Null)
    }
}

fn parameters(component: &Value) -> impl Iterator<Item = &Value> {
    component["parameters"].as_array().into_iter().flatten()
}

/// Names of the provider are told in either case.
fn is(value: &Value, name: &str) -> bool {
    value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(name))
}

/// Returns header, body, footer and buttons of a template with the values that a message gives it: `sent` is its node.
pub(super) fn filled(components: &[Value], sent: &Value) -> Value {
    let values = Values(sent);
    let part = |kind: &str| components.iter().find(|component| is(&component["type"], kind));
    let buttons = part("BUTTONS").and_then(|part| part["buttons"].as_array()).into_iter().flatten();
    json!({
        "header": part("HEADER").and_then(|part| header(part, &values.of("header"))),
        "body": part("BODY").map(|part| body(part, &values.of("body"))),
        "footer": part("FOOTER").and_then(footer),
        "buttons": buttons.enumerate().map(|(at, made)| button(made, values.of_button(at))).collect::<Vec<Value>>(),
    })
}

fn header(part: &Value, values: &[&Value]) -> Option<Value> {
    if is(&part["format"], "TEXT") {
        return Some(json!({ "type": "text", "text": worded(part["text"].as_str()?, values) }));
    }
    // A file or a place, which is all in its value.
    values.first().map(|value| (*value).clone())
}

fn body(part: &Value, values: &[&Value]) -> String {
    match part["text"].as_str() {
        Some(text) => worded(text, values),
        None if part["add_security_recommendation"] == true => {
            worded(&format!("{CODE_BODY}{CODE_ADVICE}"), values)
        }
        None => worded(CODE_BODY, values),
    }
}

fn footer(part: &Value) -> Option<String> {
    let of_code = || {
        part["code_expiration_minutes"]
            .as_u64()
            .map(|minutes| format!("This code expires in {minutes} minutes."))
    };
    part["text"].as_str().map(str::to_owned).or_else(of_code)
}

fn button(made: &Value, value: &Value) -> Value {
    let text = &made["text"];
    let kind = made["type"].as_str().unwrap_or_default().to_lowercase();
    match &*kind {
        "quick_reply" => {
            let payload = value["payload"].as_str().or(text.as_str());
            json!({ "type": kind, "text": text, "payload": payload })
        }
        "url" => {
            let url = worded(made["url"].as_str().unwrap_or_default(), &[value]);
            json!({ "type": kind, "text": text, "url": url })
        }
        "phone_number" => json!({ "type": kind, "text": text, "phone_number": made["phone_number"] }),
        "copy_code" => {
            let example = made["example"].as_str().or(made["example"][0].as_str());
            let code = value["coupon_code"].as_str().or(example);
            json!({ "type": kind, "text": text.as_str().unwrap_or("Copy offer code"), "code": code })
        }
        "otp" => {
            json!({ "type": "copy_code", "text": text.as_str().unwrap_or("Copy code"), "code": value["text"] })
        }
        "flow" => json!({ "type": kind, "text": text, "parameters": {
            "flow_id": made["flow_id"], "flow_cta": text, "flow_token": value["action"]["flow_token"],
            "flow_action": made["flow_action"],
            "flow_action_payload": { "screen": made["navigate_screen"], "data": value["action"]["flow_action_data"] },
        } }),
        _ => json!({ "type": kind, "text": text }),
    }
}

/// Returns a text with its values. What a value says is no place for another one.
fn worded(text: &str, values: &[&Value]) -> String {
    let (mut words, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, behind)| Some((before, behind.split_once("}}")?)))
    {
        words.push_str(before);
        match value_of(name.trim(), values) {
            Some(value) => words.push_str(value),
            None => words.push_str(&format!("{{{{{name}}}}}")),
        }
        rest = after;
    }
    words + rest
}

fn value_of<'a>(name: &str, values: &[&'a Value]) -> Option<&'a str> {
    let place = name.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
    let value = match place {
        Some(place) => values.get(place)?,
        None => values.iter().find(|value| value["parameter_name"] == name)?,
    };
    value["text"].as_str().or_else(|| value[value["type"].as_str()?]["fallback_value"].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_the_template_has_places() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let named = json!({ "type": "text", "parameter_name": "first_name", "text": "Ana" });
        let price = json!({ "type": "currency", "currency": { "fallback_value": "R$ 7", "code": "BRL", "amount_1000": 7_000 } });
        for (words, values, told) in [
            ("Hi", &[][..], "Hi"),
            ("Hi {{1}}, {{2}} for {{1}}", &[text("Ana"), price], "Hi Ana, R$ 7 for Ana"),
            ("{{1}} {{2}}", &[text("{{2}}"), text("b")], "{{2}} b"),
            ("Hi {{ first_name }}", &[named], "Hi Ana"),
            ("Hi {{1}} {{0}} {{name}} {{", &[], "Hi {{1}} {{0}} {{name}} {{"),
        ] {
            assert_eq!(worded(words, &values.iter().collect::<Vec<_>>()), told);
        }
    }

    #[test]
    fn a_template_has_a_header_and_buttons() {
        let components = [
            json!({ "type": "header", "format": "LOCATION" }),
            json!({ "type": "BODY", "text": "On its way, {{1}}" }),
            json!({ "type": "FOOTER", "text": "Shop" }),
            json!({ "type": "BUTTONS", "buttons": [
                { "type": "QUICK_REPLY", "text": "Stop" }, { "type": "QUICK_REPLY", "text": "Go" },
                { "type": "URL", "text": "Track", "url": "https://a.example/{{1}}" },
                { "type": "PHONE_NUMBER", "text": "Call", "phone_number": "+15550100" },
                { "type": "COPY_CODE", "example": ["25OFF"] },
                { "type": "FLOW", "text": "Fill in", "flow_id": "9", "flow_action": "navigate", "navigate_screen": "A" },
                { "type": "CATALOG", "text": "View" }] }),
        ];
        let place =
            json!({ "type": "location", "location": { "latitude": 1.5, "longitude": 2.5, "name": "Depot" } });
        let sent = json!({ "components": [
            { "type": "header", "parameters": [place] },
            { "type": "body", "parameters": [{ "type": "text", "text": "Ana" }] },
            { "type": "button", "sub_type": "quick_reply", "index": "1", "parameters": [{ "type": "payload", "payload": "go-7" }] },
            { "type": "button", "sub_type": "url", "index": 2, "parameters": [{ "type": "text", "text": "7" }] },
            { "type": "button", "sub_type": "copy_code", "index": "4", "parameters": [{ "type": "coupon_code", "coupon_code": "30OFF" }] },
            { "type": "button", "sub_type": "flow", "index": "5", "parameters": [
                { "type": "action", "action": { "flow_token": "T", "flow_action_data": { "x": 1 } } }] },
        ] });
        assert_eq!(
            filled(&components, &sent),
            json!({
                "header": place, "body": "On its way, Ana", "footer": "Shop",
                "buttons": [
                    { "type": "quick_reply", "text": "Stop", "payload": "Stop" },
                    { "type": "quick_reply", "text": "Go", "payload": "go-7" },
                    { "type": "url", "text": "Track", "url": "https://a.example/7" },
                    { "type": "phone_number", "text": "Call", "phone_number": "+15550100" },
                    { "type": "copy_code", "text": "Copy offer code", "code": "30OFF" },
                    { "type": "flow", "text": "Fill in", "parameters": { "flow_id": "9", "flow_cta": "Fill in",
                        "flow_token": "T", "flow_action": "navigate", "flow_action_payload": { "screen": "A", "data": { "x": 1 } } } },
                    { "type": "catalog", "text": "View" },
                ],
            })
        );
    }

    #[test]
    fn a_template_for_codes_says_what_the_provider_says() {
        let components = [
            json!({ "type": "BODY", "add_security_recommendation": true }),
            json!({ "type": "FOOTER", "code_expiration_minutes": 10 }),
            json!({ "type": "BUTTONS", "buttons": [{ "type": "OTP", "otp_type": "COPY_CODE", "text": "Copy" }] }),
        ];
        let code = json!([{ "type": "text", "text": "4711" }]);
        let sent = json!({ "components": [{ "type": "body", "parameters": code },
            { "type": "button", "sub_type": "url", "index": "0", "parameters": code }] });
        assert_eq!(
            filled(&components, &sent),
            json!({
                "header": null, "footer": "This code expires in 10 minutes.",
                "body": "4711 is your verification code. For your security, do not share this code.",
                "buttons": [{ "type": "copy_code", "text": "Copy", "code": "4711" }],
            })
        );
    }
}
