//! Fields of a body that come in more than one shape: numbers as texts, texts as numbers.

use std::fmt;

use flowsdk_core::time::Timestamp;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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

/// Returns a time in seconds since 1970.
pub(super) fn seconds(fields: &Fields, name: &str) -> Option<Timestamp> {
    integer(fields, name)?.checked_mul(1_000).map(Timestamp::from_millis)
}

/// Returns an object.
pub(super) fn object<'a>(fields: &'a Fields, name: &str) -> Option<&'a Fields> {
    fields.get(name)?.as_object()
}

/// Returns the objects of a list; what is none is left out.
pub(super) fn objects<'a>(fields: &'a Fields, name: &str) -> impl Iterator<Item = &'a Fields> {
    fields.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// Takes the objects of a list out of `fields`; what is none is dropped.
pub(super) fn take_objects(fields: &mut Fields, name: &str) -> impl Iterator<Item = Fields> + use<> {
    let list = match fields.remove(name) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    list.into_iter().filter_map(|one| if let Value::Object(fields) = one { Some(fields) } else { None })
}

/// An id that may be written as a number. What is neither text nor number is read over.
#[derive(Debug, Default)]
pub(super) struct IdText(pub(super) Option<String>);

impl<'de> Deserialize<'de> for IdText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = IdText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E>(self, text: &str) -> Result<IdText, E> {
        Ok(IdText((!text.is_empty()).then(|| text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<IdText, E> {
        Ok(IdText(Some(number.to_string())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<IdText, E> {
        Ok(IdText(Some(number.to_string())))
    }

    fn visit_f64<E>(self, _number: f64) -> Result<IdText, E> {
        Ok(IdText(None))
    }

    fn visit_bool<E>(self, _truth: bool) -> Result<IdText, E> {
        Ok(IdText(None))
    }

    fn visit_unit<E>(self) -> Result<IdText, E> {
        Ok(IdText(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<IdText, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(IdText(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<IdText, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(IdText(None))
    }
}
