//! Rows as tuples.

use flowsdk_core::fault::StorageError;
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;
use sqlx::types::Json;

use super::storage_error;

/// A value of a column.
pub(in crate::sql) trait Column: Sized {
    /// Reads it, or says what it should be.
    fn read(value: ValueRef<'_>) -> Result<Self, String>;
}

fn text<'v>(value: &ValueRef<'v>) -> Result<&'v str, String> {
    match value {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map_err(|error| error.to_string()),
        other => Err(format!("a text was expected, not {}", other.data_type())),
    }
}

impl Column for String {
    fn read(value: ValueRef<'_>) -> Result<Self, String> {
        text(&value).map(str::to_owned)
    }
}

impl Column for i64 {
    fn read(value: ValueRef<'_>) -> Result<Self, String> {
        match value {
            ValueRef::Integer(number) => Ok(number),
            other => Err(format!("an integer was expected, not {}", other.data_type())),
        }
    }
}

impl Column for bool {
    fn read(value: ValueRef<'_>) -> Result<Self, String> {
        i64::read(value).map(|number| number != 0)
    }
}

impl<T: DeserializeOwned> Column for Json<T> {
    fn read(value: ValueRef<'_>) -> Result<Self, String> {
        serde_json::from_str(text(&value)?).map(Json).map_err(|error| error.to_string())
    }
}

impl<T: Column> Column for Option<T> {
    fn read(value: ValueRef<'_>) -> Result<Self, String> {
        if matches!(value, ValueRef::Null) { Ok(None) } else { T::read(value).map(Some) }
    }
}

/// A row of a query.
pub(in crate::sql) trait Row: Sized {
    /// Reads it, columns in order.
    fn read(row: &rusqlite::Row<'_>) -> Result<Self, StorageError>;
}

fn column<T: Column>(row: &rusqlite::Row<'_>, index: usize) -> Result<T, StorageError> {
    let value = row.get_ref(index).map_err(storage_error)?;
    T::read(value).map_err(|reason| StorageError::Corrupt {
        entity: "row",
        reason: format!("column {index}: {reason}"),
    })
}

macro_rules! tuples {
    ($($kind:ident $index:tt),+) => {
        tuples!(@ [] $($kind $index),+);
    };
    (@ [$($done:ident $at:tt),* $(,)?]) => {};
    (@ [$($done:ident $at:tt),* $(,)?] $kind:ident $index:tt $(, $rest:ident $more:tt)*) => {
        impl<$($done: Column,)* $kind: Column> Row for ($($done,)* $kind,) {
            fn read(row: &rusqlite::Row<'_>) -> Result<Self, StorageError> {
                Ok(($(column::<$done>(row, $at)?,)* column::<$kind>(row, $index)?,))
            }
        }
        tuples!(@ [$($done $at,)* $kind $index] $($rest $more),*);
    };
}

tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15);
