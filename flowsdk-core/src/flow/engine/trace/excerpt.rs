//! Parts of texts and values, short enough for a trace.

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
        Value::Array(_) | Value::Object(_) => {
            let size = value.to_string().len();
            let kind = if value.is_array() { "a list" } else { "an object" };
            if size <= MOST { value.clone() } else { Value::String(format!("({kind} of {size} bytes)")) }
        }
    }
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
