//! Fields of a body that come in more than one shape: numbers as texts, texts as numbers.

use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};

/// The fields of an object.
pub type Fields = Map<String, Value>;

/// Returns a text that is not empty, also of a number.
pub(super) fn text(fields: &Fields, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a whole number, also of a text.
pub(super) fn integer(fields: &Fields, name: &str) -> Option<i64> {
    match fields.get(name)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns a time in seconds since 1970; none was before.
pub(super) fn seconds(fields: &Fields, name: &str) -> Option<Timestamp> {
    let seconds = integer(fields, name).filter(|seconds| *seconds >= 0)?;
    seconds.checked_mul(1_000).map(Timestamp::from_millis)
}

/// Returns an object.
pub(super) fn object<'a>(fields: &'a Fields, name: &str) -> Option<&'a Fields> {
    fields.get(name)?.as_object()
}

/// Returns the objects of a list; what is none is left out.
pub(super) fn objects<'a>(fields: &'a Fields, name: &str) -> impl Iterator<Item = &'a Fields> {
    fields.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}
