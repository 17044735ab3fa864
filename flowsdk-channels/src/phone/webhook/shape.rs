//! Fields of the types that a body is read into. A value of another shape than the field's is read over, and the field is
//! as if it were absent.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reads a body that is an object, and nothing behind it; `None` of one of another shape.
pub(super) fn whole<'de, T: Deserialize<'de>>(
    body: impl serde_json::de::Read<'de>,
) -> Result<Option<T>, serde_json::Error> {
    let mut json = serde_json::Deserializer::new(body);
    let whole = object(&mut json)?;
    json.end()?;
    Ok(whole)
}

/// Reads a text that is not empty, also of a number.
pub(super) fn text<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    Loosely::<Text>::new().deserialize(value).map(|Text(text)| text)
}

/// Reads an object.
pub(super) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    Loosely::<Object<T>>::new().deserialize(value).map(|Object(object)| object)
}

/// Reads the objects of a list; what is none is left out.
pub(super) fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(value: D) -> Result<Vec<T>, D::Error> {
    Loosely::<Objects<T>>::new().deserialize(value).map(|Objects(objects)| objects)
}

/// A shape that a value may have. The default is what a value of another shape reads as.
trait Shape<'de>: Default {
    fn of_text(_text: &str) -> Self {
        Self::default()
    }

    fn of_number(_number: impl fmt::Display) -> Self {
        Self::default()
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn of_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

#[derive(Default)]
struct Text(Option<String>);

impl Shape<'_> for Text {
    fn of_text(text: &str) -> Self {
        Self((!text.is_empty()).then(|| text.to_owned()))
    }

    fn of_number(number: impl fmt::Display) -> Self {
        Self(Some(number.to_string()))
    }
}

struct Object<T>(Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Shape<'de> for Object<T> {
    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|object| Self(Some(object)))
    }
}

struct Objects<T>(Vec<T>);

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Shape<'de> for Objects<T> {
    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut objects = Vec::new();
        while let Some(Object(object)) = list.next_element_seed(Loosely::<Object<T>>::new())? {
            objects.extend(object);
        }
        Ok(Self(objects))
    }
}

/// Reads a value of any shape as an `S`.
struct Loosely<S>(PhantomData<S>);

impl<S> Loosely<S> {
    fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, S: Shape<'de>> DeserializeSeed<'de> for Loosely<S> {
    type Value = S;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de, S: Shape<'de>> Visitor<'de> for Loosely<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<S, E> {
        Ok(S::of_text(text))
    }

    fn visit_u64<E>(self, number: u64) -> Result<S, E> {
        Ok(S::of_number(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<S, E> {
        Ok(S::of_number(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<S, E> {
        Ok(S::of_number(number))
    }

    fn visit_bool<E>(self, _truth: bool) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_unit<E>(self) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<S, A::Error> {
        S::of_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<S, A::Error> {
        S::of_object(object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, PartialEq, Default, serde::Deserialize)]
    #[serde(default)]
    struct Read {
        #[serde(deserialize_with = "text")]
        text: Option<String>,
        #[serde(deserialize_with = "object")]
        one: Option<Box<Read>>,
        #[serde(deserialize_with = "objects")]
        many: Vec<Read>,
    }

    #[test]
    fn a_value_of_another_shape_is_as_if_it_were_absent() {
        let named = |text: &str| Read { text: Some(text.to_owned()), ..Read::default() };
        for (json, read) in [
            (json!({ "text": "a" }), named("a")),
            (json!({ "text": 7 }), named("7")),
            (json!({ "text": -7 }), named("-7")),
            (json!({ "text": 0.5 }), named("0.5")),
            (json!({ "one": { "text": "a" } }), Read { one: Some(Box::new(named("a"))), ..Read::default() }),
            (
                json!({ "many": [7, { "text": "a" }, null, [{}], { "text": [] }, "x"] }),
                Read { many: vec![named("a"), Read::default()], ..Read::default() },
            ),
        ] {
            assert_eq!(serde_json::from_str::<Read>(&json.to_string()).expect("read"), read, "{json}");
        }
        let shapes =
            [json!(null), json!(true), json!(""), json!("x"), json!(1), json!([1, [2]]), json!({ "a": {} })];
        let is_of = |shape: &Value, name: &str| match name {
            "text" => shape.is_number() || shape.as_str().is_some_and(|text| !text.is_empty()),
            _ => shape.is_object(),
        };
        for (shape, name) in shapes.iter().flat_map(|shape| ["text", "one"].map(|name| (shape, name))) {
            let read: Read =
                serde_json::from_str(&json!({ name: shape, "many": shape }).to_string()).expect("read");
            assert_eq!(read == Read::default(), !is_of(shape, name), "{name} {shape}");
        }
    }
}
