//! Rows of queries, as types of the domain.

use std::borrow::Cow;

use flowsdk_core::cell::{Cell, Kind, Value};
use flowsdk_core::fault::{BoxError, StorageError};
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Postgres, Row as _, Sqlite, TypeInfo as _, ValueRef as _};

/// A row as one of the drivers has it.
pub(super) trait Columns {
    /// The value of a column, from 0.
    fn value(&self, index: usize) -> Result<Value<'_>, BoxError>;

    /// The name of a column.
    fn name(&self, index: usize) -> String;
}

impl Columns for rusqlite::Row<'_> {
    fn value(&self, index: usize) -> Result<Value<'_>, BoxError> {
        use rusqlite::types::ValueRef;
        match self.get_ref(index)? {
            ValueRef::Null => Ok(Value::Null(Kind::Text)),
            ValueRef::Integer(number) => Ok(Value::Integer(number)),
            ValueRef::Text(bytes) => Ok(Value::Text(Cow::Borrowed(std::str::from_utf8(bytes)?))),
            ValueRef::Blob(bytes) => Ok(Value::Bytes(Cow::Borrowed(bytes))),
            other => Err(format!("no value is {}", other.data_type()).into()),
        }
    }

    fn name(&self, index: usize) -> String {
        self.as_ref().column_name(index).unwrap_or_default().to_owned()
    }
}

impl Columns for SqliteRow {
    fn value(&self, index: usize) -> Result<Value<'_>, BoxError> {
        let value = self.try_get_raw(index)?;
        if value.is_null() {
            return Ok(Value::Null(Kind::Text));
        }
        Ok(match value.type_info().name() {
            "TEXT" => Value::Text(Cow::Borrowed(<&str as Decode<Sqlite>>::decode(value)?)),
            "BLOB" => Value::Bytes(Cow::Borrowed(<&[u8] as Decode<Sqlite>>::decode(value)?)),
            _ => Value::Integer(<i64 as Decode<Sqlite>>::decode(value)?),
        })
    }

    fn name(&self, index: usize) -> String {
        sqlx::Column::name(self.column(index)).to_owned()
    }
}

impl Columns for PgRow {
    fn value(&self, index: usize) -> Result<Value<'_>, BoxError> {
        let value = self.try_get_raw(index)?;
        if value.is_null() {
            return Ok(Value::Null(Kind::Text));
        }
        Ok(match value.type_info().name() {
            "INT8" => Value::Integer(<i64 as Decode<Postgres>>::decode(value)?),
            "INT4" => Value::Integer(i64::from(<i32 as Decode<Postgres>>::decode(value)?)),
            "BOOL" => Value::Integer(i64::from(<bool as Decode<Postgres>>::decode(value)?)),
            "BYTEA" => Value::Bytes(Cow::Borrowed(<&[u8] as Decode<Postgres>>::decode(value)?)),
            // The version of the binary form stands in front.
            "JSONB" => {
                let text = value.as_str()?;
                Value::Text(Cow::Borrowed(text.strip_prefix('\u{1}').unwrap_or(text)))
            }
            _ => Value::Text(Cow::Borrowed(value.as_str()?)),
        })
    }

    fn name(&self, index: usize) -> String {
        sqlx::Column::name(self.column(index)).to_owned()
    }
}

/// The columns of a row, in their order.
pub(crate) struct Cells<'r> {
    row: &'r dyn Columns,
    /// The text of the query.
    sql: &'static str,
    next: usize,
}

impl<'r> Cells<'r> {
    pub(super) fn new(row: &'r dyn Columns, sql: &'static str) -> Self {
        Self { row, sql, next: 0 }
    }

    /// Reads the next column, which is one of `table`.
    pub(crate) fn of<T: Cell>(
        &mut self,
        table: &'static str,
        column: &'static str,
    ) -> Result<T, StorageError> {
        self.take(T::from_value).map_err(|error| corrupt(table)(&format_args!("column {column}: {error}")))
    }

    /// Reads the next column, which is JSON in a column of `table`.
    pub(crate) fn json<T: DeserializeOwned>(
        &mut self,
        table: &'static str,
        column: &'static str,
    ) -> Result<T, StorageError> {
        self.take(|value| Ok(serde_json::from_str(&value.into_text()?)?))
            .map_err(|error| corrupt(table)(&format_args!("column {column}: {error}")))
    }

    /// Reads the next column, which is JSON or NULL in a column of `table`.
    pub(crate) fn json_or_null<T: DeserializeOwned>(
        &mut self,
        table: &'static str,
        column: &'static str,
    ) -> Result<Option<T>, StorageError> {
        self.take(|value| match value {
            Value::Null(_) => Ok(None),
            value => Ok(Some(serde_json::from_str(&value.into_text()?)?)),
        })
        .map_err(|error| corrupt(table)(&format_args!("column {column}: {error}")))
    }

    /// Reads the next column, which may be a computed one.
    pub(crate) fn next<T: Cell>(&mut self) -> Result<T, StorageError> {
        let index = self.next;
        self.take(T::from_value).map_err(|error| {
            corrupt(table_of(self.sql))(&format_args!("column {}: {error}", self.row.name(index)))
        })
    }

    fn take<T>(&mut self, read: impl FnOnce(Value<'_>) -> Result<T, BoxError>) -> Result<T, BoxError> {
        let index = self.next;
        self.next += 1;
        read(self.row.value(index)?)
    }
}

/// A value of the store that a domain type refuses.
pub(crate) fn corrupt(entity: &'static str) -> impl Fn(&dyn std::fmt::Display) -> StorageError {
    move |reason| StorageError::Corrupt { entity, reason: reason.to_string() }
}

/// The first table that a text names.
fn table_of(sql: &'static str) -> &'static str {
    let mut words =
        sql.split_ascii_whitespace().skip_while(|word| !matches!(*word, "FROM" | "INTO" | "UPDATE"));
    words.nth(1).map_or("row", |word| word.trim_matches(|end: char| !end.is_ascii_alphanumeric()))
}

/// A type that a row, or a few columns of it, are read as.
pub(crate) trait Row: Sized {
    /// Reads it, columns in order.
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError>;
}

/// A record and the columns behind it.
#[derive(Debug)]
pub(crate) struct With<R, T>(pub(crate) R, pub(crate) T);

impl<R: Row, T: Row> Row for With<R, T> {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        Ok(Self(R::read(cells)?, T::read(cells)?))
    }
}

/// Tuples are read column by column.
macro_rules! tuples {
    ($($kind:ident)*) => {
        impl<$($kind: Cell),*> Row for ($($kind,)*) {
            fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
                Ok(($(cells.next::<$kind>()?,)*))
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_text_is_the_first_that_it_names() {
        for (text, table) in [
            ("SELECT id FROM chat WHERE id = $1", "chat"),
            ("DELETE FROM chat", "chat"),
            ("INSERT INTO user_device (id) VALUES ($1) RETURNING id", "user_device"),
            ("UPDATE message SET a = 1", "message"),
            ("SELECT 1", "row"),
        ] {
            assert_eq!(table_of(text), table, "{text}");
        }
    }
}
