//! Values that servers write in more than one way.

use serde_json::Value;

/// Returns the arguments of a call as a text. Some servers write an object; nothing is an empty object.
pub(super) fn text_of(arguments: &Value) -> String {
    match arguments {
        Value::String(text) if text.is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    }
}

/// Returns a number of tokens; 0 where there is none.
pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
