//! Values on their way into a statement.

use std::borrow::Cow;

use flowsdk_core::cell::{Cell, Json, Kind, Value};
use flowsdk_core::fault::StorageError;
use flowsdk_core::time::Timestamp;
use serde::Serialize;
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Postgres, Type};

use super::sqlite::Prepared;

/// A statement of one of the engines, which is given its binds one by one.
pub(super) trait Target {
    /// Binds the next parameter.
    fn put(&mut self, value: Value<'_>) -> Result<(), BoxDynError>;
}

impl Target for Prepared<'_> {
    fn put(&mut self, value: Value<'_>) -> Result<(), BoxDynError> {
        self.put(value);
        Ok(())
    }
}

/// A file that is read takes texts that live as long as its thread wants them.
impl Target for SqliteArguments {
    fn put(&mut self, value: Value<'_>) -> Result<(), BoxDynError> {
        match value {
            Value::Null(_) => self.add(None::<i64>),
            Value::Integer(number) => self.add(number),
            Value::Text(text) | Value::Json(text) => self.add(text.into_owned()),
            Value::Bytes(bytes) => self.add(bytes.into_owned()),
        }
    }
}

impl Target for PgArguments {
    fn put(&mut self, value: Value<'_>) -> Result<(), BoxDynError> {
        match value {
            Value::Null(Kind::Integer) => self.add(None::<i64>),
            Value::Null(Kind::Text) => self.add(None::<&str>),
            Value::Null(Kind::Json) => self.add(None::<JsonText<'_>>),
            Value::Null(Kind::Bytes) => self.add(None::<&[u8]>),
            Value::Integer(number) => self.add(number),
            Value::Text(text) => self.add(&*text),
            Value::Json(text) => self.add(JsonText(&text)),
            Value::Bytes(bytes) => self.add(&*bytes),
        }
    }
}

/// JSON that is a text already.
struct JsonText<'a>(&'a str);

impl Type<Postgres> for JsonText<'_> {
    fn type_info() -> PgTypeInfo {
        <sqlx::types::Json<()> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for JsonText<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        // The version of the binary form.
        buffer.push(1);
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }
}

/// Binds the parameters of a statement, in their order. The first thing that goes wrong is kept.
pub(crate) struct Binder<'t> {
    target: &'t mut dyn Target,
    failed: Option<StorageError>,
}

impl<'t> Binder<'t> {
    pub(super) fn new(target: &'t mut dyn Target) -> Self {
        Self { target, failed: None }
    }

    /// Binds the next parameter.
    pub(crate) fn bind(&mut self, value: impl Bind) -> &mut Self {
        value.bind(self);
        self
    }

    /// Postgres stores no NUL, so it becomes U+FFFD on both engines: a message must not fail for its sender's input,
    /// nor an entry that is kept because it failed.
    pub(super) fn put(&mut self, value: Result<Value<'_>, BoxDynError>) {
        let done = value.and_then(|value| match value {
            Value::Text(text) if text.contains('\0') => {
                self.target.put(Value::Text(text.replace('\0', "\u{fffd}").into()))
            }
            Value::Json(text) if text.contains(NUL) => {
                self.target.put(Value::Json(without_nul(&text).into()))
            }
            value => self.target.put(value),
        });
        if let Err(error) = done {
            self.failed.get_or_insert(StorageError::Other(error));
        }
    }

    pub(super) fn done(self) -> Result<(), StorageError> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// A value that can be a parameter of a statement.
pub(crate) trait Bind {
    /// The kind of its column, for a value that is not there.
    const KIND: Kind;

    /// Binds it as the next parameter.
    fn bind(self, to: &mut Binder<'_>);
}

impl<T: Cell> Bind for &T {
    const KIND: Kind = T::KIND;

    fn bind(self, to: &mut Binder<'_>) {
        to.put(self.to_value());
    }
}

impl Bind for &str {
    const KIND: Kind = Kind::Text;

    fn bind(self, to: &mut Binder<'_>) {
        to.put(Ok(Value::Text(Cow::Borrowed(self))));
    }
}

impl Bind for &[u8] {
    const KIND: Kind = Kind::Bytes;

    fn bind(self, to: &mut Binder<'_>) {
        to.put(Ok(Value::Bytes(Cow::Borrowed(self))));
    }
}

impl Bind for i64 {
    const KIND: Kind = Kind::Integer;

    fn bind(self, to: &mut Binder<'_>) {
        to.put(Ok(Value::Integer(self)));
    }
}

impl Bind for Timestamp {
    const KIND: Kind = Kind::Integer;

    fn bind(self, to: &mut Binder<'_>) {
        to.put(Ok(Value::Integer(self.as_millis())));
    }
}

impl<T: Serialize> Bind for Json<T> {
    const KIND: Kind = Kind::Json;

    fn bind(self, to: &mut Binder<'_>) {
        let text = serde_json::to_string(&self.0);
        to.put(text.map(|text| Value::Json(Cow::Owned(text))).map_err(Into::into));
    }
}

impl<T: Bind> Bind for Option<T> {
    const KIND: Kind = T::KIND;

    fn bind(self, to: &mut Binder<'_>) {
        match self {
            Some(value) => value.bind(to),
            None => to.put(Ok(Value::Null(T::KIND))),
        }
    }
}

/// All parameters of a statement.
pub(crate) trait Binds {
    /// Binds all parameters in order.
    fn bind_all(self, to: &mut Binder<'_>);
}

/// Tuples bind their elements.
macro_rules! tuples {
    ($($kind:ident)*) => {
        impl<$($kind: Bind),*> Binds for ($($kind,)*) {
            #[allow(non_snake_case, reason = "the elements are named after their types")]
            fn bind_all(self, to: &mut Binder<'_>) {
                let ($($kind,)*) = self;
                $(to.bind($kind);)*
            }
        }
    };
}

impl Binds for () {
    fn bind_all(self, _to: &mut Binder<'_>) {}
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I J);

const NUL: &str = "\\u0000";

/// JSON in which no string holds a NUL.
fn without_nul(json: &str) -> String {
    let mut clean = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        clean.push_str(before);
        let is_nul = escape.starts_with(NUL);
        // An escaped backslash is one escape, so that the text after it is not taken for another.
        let len = if is_nul { NUL.len() } else { 2 };
        clean.push_str(if is_nul { "\u{fffd}" } else { &escape[..len] });
        rest = &escape[len..];
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_becomes_the_replacement_character_and_its_spelling_stays() {
        for value in ["", "a", "\0", "\\\0", "\\u0000", "\\\\u0000\0\\", "\"\0\"", "\u{1}\0é👋\n"] {
            let text = without_nul(&serde_json::to_string(value).expect("a string"));
            let read: String = serde_json::from_str(&text).expect(&text);
            assert_eq!(read, value.replace('\0', "\u{fffd}"));
        }
    }
}
