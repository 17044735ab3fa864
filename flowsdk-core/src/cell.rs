//! Values as the column of a database holds them. Nothing here names a database: a store reads and writes columns, and
//! the types of the domain say which value they are.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

pub use flowsdk_macros::{Named, TextType};
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserializer, Serialize};

use crate::fault::BoxError;
use crate::time::Timestamp;

/// The value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// Nothing, in a column of this kind.
    Null(Kind),
    /// A whole number.
    Integer(i64),
    /// A text. JSON that was read is a text too.
    Text(Cow<'a, str>),
    /// A JSON text to write.
    Json(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

/// The kind of a column. Databases want it of a value that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Integer,
    /// Texts.
    Text,
    /// JSON.
    Json,
    /// Bytes.
    Bytes,
}

/// A type that is the value of one column.
pub trait Cell: Sized {
    /// The kind of its column.
    const KIND: Kind;

    /// Returns the value to write.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    fn to_value(&self) -> Result<Value<'_>, BoxError>;

    /// Reads a value.
    ///
    /// # Errors
    /// If it is not a value of this type.
    fn from_value(value: Value<'_>) -> Result<Self, BoxError>;
}

impl<'a> Value<'a> {
    /// Reads a text.
    ///
    /// # Errors
    /// If it is something else.
    pub fn into_text(self) -> Result<Cow<'a, str>, BoxError> {
        match self {
            Self::Text(text) | Self::Json(text) => Ok(text),
            Self::Bytes(_) => Err("a text was expected, not bytes".into()),
            other => Err(format!("a text was expected, not {other:?}").into()),
        }
    }

    /// Reads a whole number.
    ///
    /// # Errors
    /// If it is something else.
    pub fn into_integer(self) -> Result<i64, BoxError> {
        match self {
            Self::Integer(number) => Ok(number),
            Self::Null(_) => Err("an integer was expected, not NULL".into()),
            Self::Text(_) | Self::Json(_) => Err("an integer was expected, not a text".into()),
            Self::Bytes(_) => Err("an integer was expected, not bytes".into()),
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If it is something else.
    pub fn into_bytes(self) -> Result<Cow<'a, [u8]>, BoxError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Null(_) => Err("bytes were expected, not NULL".into()),
            _ => Err("bytes were expected, not something else".into()),
        }
    }
}

/// A type that stands in its column as a text.
pub trait TextCell: Sized {
    /// Returns the text to write.
    fn as_text(&self) -> &str;

    /// Reads a text.
    ///
    /// # Errors
    /// If it is not a text of this type.
    fn from_text(text: &str) -> Result<Self, BoxError>;
}

impl<T: TextCell> Cell for T {
    const KIND: Kind = Kind::Text;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Text(Cow::Borrowed(self.as_text())))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        T::from_text(&value.into_text()?)
    }
}

/// An enum whose variants stand in columns by their names.
pub trait Named: Copy + 'static {
    /// Every variant.
    const ALL: &'static [Self];

    /// Returns the name in storage and on the wire.
    fn name(self) -> &'static str;
}

/// Deserializes a text into its type.
///
/// # Errors
/// If it is not a text of this type.
pub fn deserialize_text<'de, T: TextCell, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);

    impl<T: TextCell> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            T::from_text(text).map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

impl<T: Named> TextCell for T {
    fn as_text(&self) -> &str {
        self.name()
    }

    fn from_text(text: &str) -> Result<Self, BoxError> {
        let known = T::ALL.iter().copied().find(|known| known.name() == text);
        known.ok_or_else(|| format!("{text:?} is not a known name").into())
    }
}

/// A value that stands in its column as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + DeserializeOwned> Cell for Json<T> {
    const KIND: Kind = Kind::Json;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Json(Cow::Owned(serde_json::to_string(&self.0)?)))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(Self(serde_json::from_str(&value.into_text()?)?))
    }
}

impl<T: Cell> Cell for Option<T> {
    const KIND: Kind = T::KIND;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        self.as_ref().map_or(Ok(Value::Null(T::KIND)), T::to_value)
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        if matches!(value, Value::Null(_)) { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

impl Cell for String {
    const KIND: Kind = Kind::Text;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Text(Cow::Borrowed(self)))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(value.into_text()?.into_owned())
    }
}

impl Cell for Vec<u8> {
    const KIND: Kind = Kind::Bytes;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Bytes(Cow::Borrowed(self)))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(value.into_bytes()?.into_owned())
    }
}

impl Cell for i64 {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Integer(*self))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        value.into_integer()
    }
}

impl Cell for u32 {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Integer(i64::from(*self)))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(u32::try_from(value.into_integer()?)?)
    }
}

impl Cell for u64 {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Integer(i64::try_from(*self)?))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(u64::try_from(value.into_integer()?)?)
    }
}

/// 0 or 1.
impl Cell for bool {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Integer(i64::from(*self)))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(value.into_integer()? != 0)
    }
}

/// Milliseconds since the epoch.
impl Cell for Timestamp {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Integer(self.as_millis()))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        Ok(Self::from_millis(value.into_integer()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RouterId;
    use crate::session::Mode;

    fn there_and_back<T: Cell + PartialEq + std::fmt::Debug>(value: T, expected: Value<'_>) {
        let written = value.to_value().expect("a value");
        assert_eq!(written, expected);
        assert_eq!(T::from_value(written).expect("the value"), value);
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        let text = |text: &'static str| Value::Text(Cow::Borrowed(text));
        there_and_back("r1".parse::<RouterId>().expect("an id"), text("r1"));
        there_and_back(Some("a".to_owned()), text("a"));
        there_and_back(None::<String>, Value::Null(Kind::Text));
        there_and_back(None::<Timestamp>, Value::Null(Kind::Integer));
        there_and_back(Mode::Agent, text("agent"));
        there_and_back(true, Value::Integer(1));
        there_and_back(7_u32, Value::Integer(7));
        there_and_back(1_u64 << 40, Value::Integer(1 << 40));
        assert!(u64::MAX.to_value().is_err() && u64::from_value(Value::Integer(-1)).is_err());
        there_and_back(Timestamp::from_millis(-7), Value::Integer(-7));
        there_and_back(Json(vec![1, 2]), Value::Json(Cow::Borrowed("[1,2]")));
        there_and_back(vec![0_u8, 255], Value::Bytes(Cow::Borrowed(&[0, 255])));
        there_and_back(None::<Vec<u8>>, Value::Null(Kind::Bytes));
    }

    #[test]
    fn values_of_other_types_are_refused() {
        assert!(RouterId::from_value(Value::Text(Cow::Borrowed("a b"))).is_err());
        assert!(RouterId::from_value(Value::Null(Kind::Text)).is_err());
        assert!(Mode::from_value(Value::Text(Cow::Borrowed("Agent"))).is_err());
        assert!(u32::from_value(Value::Integer(-1)).is_err());
        assert!(i64::from_value(Value::Text(Cow::Borrowed("1"))).is_err());
        assert!(String::from_value(Value::Integer(1)).is_err());
        assert!(String::from_value(Value::Bytes(Cow::Borrowed(b"a"))).is_err());
        assert!(i64::from_value(Value::Bytes(Cow::Borrowed(b"1"))).is_err());
        assert!(Vec::<u8>::from_value(Value::Text(Cow::Borrowed("a"))).is_err());
        assert!(Json::<Vec<u8>>::from_value(Value::Text(Cow::Borrowed("[1"))).is_err());
    }
}
