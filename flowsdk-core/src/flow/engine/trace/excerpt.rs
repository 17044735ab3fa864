//! Parts of texts and values, short enough for a trace. Each is taken in every turn, so its cost has a bound.

use serde_json::Value;

/// Most characters of a text, and most bytes of a list or object.
const MOST: usize = 200;

/// Returns a text, cut after [`MOST`] characters.
pub(in super::super) fn of_text(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a value, or of a large one its size: a part of it as JSON could hold a part of a secret.
pub(in super::super) fn of_value(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) => Value::String(of_text(text)),
        Value::Array(items) if !is_short(value) => format!("(a list of {} items)", items.len()).into(),
        Value::Object(fields) if !is_short(value) => format!("(an object of {} fields)", fields.len()).into(),
        Value::Array(_) | Value::Object(_) => value.clone(),
    }
}

/// Returns whether a value takes at most [`MOST`] bytes as JSON. It is read no further than that.
fn is_short(value: &Value) -> bool {
    let mut start = [0; MOST];
    serde_json::to_writer(start.as_mut_slice(), value).is_ok()
}

/// Rewrites every text in a value.
pub(super) fn rewrite(value: &mut Value, rewrite_text: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => rewrite_text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, rewrite_text)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rewrite(field, rewrite_text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_values_are_told_by_the_number_of_their_entries() {
        let short = json!({ "a": ["x".repeat(180), 1] });
        for (value, expected) in [
            (json!(true), json!(true)),
            (json!("é".repeat(200)), json!("é".repeat(200))),
            (json!("é".repeat(201)), json!("é".repeat(200) + "…")),
            (short.clone(), short),
            (json!(vec![7; 99]), json!(vec![7; 99])),
            (json!(vec![7; 100]), json!("(a list of 100 items)")),
            (json!({ "a": "x".repeat(300), "b": 1 }), json!("(an object of 2 fields)")),
        ] {
            assert_eq!(of_value(&value), expected);
        }
    }
}
