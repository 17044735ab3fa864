//! Definitions as their authors wrote them.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A definition, and the text that its author wrote. The text has the keys in the author's order, which a [`Value`] does
/// not keep.
///
/// Two are equal when their values are. As JSON it is the text of its author, where there is one.
#[derive(Debug, Clone, Default)]
pub struct Written {
    value: Value,
    /// Compact JSON.
    text: Option<String>,
}

impl Written {
    /// Reads a definition.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let value = serde_json::from_str(text)?;
        let mut compact = Vec::with_capacity(text.len());
        copy(text, &mut serde_json::Serializer::new(&mut compact))?;
        Ok(Self { value, text: String::from_utf8(compact).ok() })
    }

    /// Returns a definition that was stored with the text of its author.
    pub fn stored(value: Value, text: Option<String>) -> Self {
        Self { value, text }
    }

    /// Returns the text of the author, if it is known.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns the definition as JSON of several lines.
    ///
    /// # Errors
    /// None is known: the definition is JSON.
    pub fn to_pretty(&self) -> Result<String, serde_json::Error> {
        let mut pretty = Vec::new();
        match self.right_text() {
            Some(text) => copy(text, &mut serde_json::Serializer::pretty(&mut pretty))?,
            None => serde_json::to_writer_pretty(&mut pretty, &self.value)?,
        }
        String::from_utf8(pretty).map_err(serde::de::Error::custom)
    }

    /// Returns the text of the author, unless it says something else: a process of an older version, which does not know
    /// of texts, replaces the value alone.
    fn right_text(&self) -> Option<&str> {
        let text = self.text.as_deref()?;
        let said: Value = serde_json::from_str(text).ok()?;
        (said == self.value).then_some(text)
    }
}

fn copy<W: std::io::Write, F: serde_json::ser::Formatter>(
    text: &str,
    to: &mut serde_json::Serializer<W, F>,
) -> Result<(), serde_json::Error> {
    serde_transcode::transcode(&mut serde_json::Deserializer::from_str(text), to)
}

impl From<Value> for Written {
    fn from(value: Value) -> Self {
        Self { value, text: None }
    }
}

impl From<Written> for Value {
    fn from(written: Written) -> Self {
        written.value
    }
}

impl Deref for Written {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq<Value> for Written {
    fn eq(&self, other: &Value) -> bool {
        self.value == *other
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.right_text().and_then(|text| serde_json::from_str::<&RawValue>(text).ok()) {
            Some(raw) => raw.serialize(serializer),
            None => self.value.serialize(serializer),
        }
    }
}

/// Without the text: that is known to whoever has it, see [`Written::read`].
impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str =
        r#"{ "startBlockId": "a", "blocks": [{ "type": "content", "id": "a", "n": 1.50 }], "b": null }"#;

    #[test]
    fn the_order_of_keys_is_kept() {
        let written = Written::read(TEXT).expect("JSON");
        let compact = r#"{"startBlockId":"a","blocks":[{"type":"content","id":"a","n":1.5}],"b":null}"#;
        assert_eq!(serde_json::to_string(&written).expect("JSON"), compact);
        let stored = Written::stored((*written).clone(), written.text().map(str::to_owned));
        assert_eq!(serde_json::to_string(&json!({ "x": 1 })).expect("JSON"), r#"{"x":1}"#);
        assert_eq!(serde_json::to_string(&[stored]).expect("JSON"), format!("[{compact}]"));
        let pretty = written.to_pretty().expect("JSON");
        assert!(pretty.starts_with("{\n  \"startBlockId\": \"a\",\n  \"blocks\": ["), "{pretty}");
        assert_eq!(Written::read(&pretty).expect("JSON").text(), Some(compact));
        assert_eq!(written, Written::read(compact).expect("JSON"));
        assert!(Written::read("{").is_err());
    }

    #[test]
    fn a_text_that_says_something_else_is_not_shown() {
        let stale = Written::stored(json!({ "a": 1 }), Some(r#"{"a":2}"#.to_owned()));
        assert_eq!(serde_json::to_string(&stale).expect("JSON"), r#"{"a":1}"#);
        assert_eq!(stale.to_pretty().expect("JSON"), "{\n  \"a\": 1\n}");
        let broken = Written::stored(json!({ "a": 1 }), Some("{".to_owned()));
        assert_eq!(serde_json::to_string(&broken).expect("JSON"), r#"{"a":1}"#);
    }
}
