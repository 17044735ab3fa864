//! Takes secrets out of the answers of servers: some echo the request.

use serde_json::Value;

/// The text in the place of a secret.
const REDACTED: &str = "***";

/// `text` without the secrets.
pub(super) fn redact(text: &str, secrets: &[&str]) -> String {
    secrets.iter().filter(|secret| !secret.is_empty()).fold(text.to_owned(), |text, secret| {
        if text.contains(secret) { text.replace(secret, REDACTED) } else { text }
    })
}

/// JSON without the secrets, in names, texts and numbers.
pub(super) fn redact_json(value: Value, secrets: &[&str]) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text, secrets)),
        Value::Number(number) => {
            let text = number.to_string();
            let shown = redact(&text, secrets);
            if shown == text { Value::Number(number) } else { Value::String(shown) }
        }
        Value::Array(items) => items.into_iter().map(|item| redact_json(item, secrets)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (redact(&name, secrets), redact_json(value, secrets)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_taken_out_everywhere() {
        let secrets = ["s3cret-token", "1234567890"];
        let echoed = json!({
            "s3cret-token": ["Bearer s3cret-token", 12345678901_i64, null, true, 7],
            "a": { "b": "xs3cret-tokens3cret-tokeny" },
        });
        assert_eq!(
            redact_json(echoed, &secrets),
            json!({ "***": ["Bearer ***", "***1", null, true, 7], "a": { "b": "x******y" } })
        );
        assert_eq!(redact("nothing", &secrets), "nothing");
        assert_eq!(redact("a", &[""]), "a");
    }
}
