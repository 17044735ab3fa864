//! Rows on their way into a statement of Postgres: an array a column.

use flowsdk_core::cell::{Kind, Value};
use flowsdk_core::fault::StorageError;
use sqlx::encode::{Encode, IsNull};
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo};
use sqlx::types::Json;
use sqlx::{Arguments as _, Postgres, Type};

use super::bind::{Binder, Target};

/// The arrays of all columns.
pub(super) struct Arrays {
    columns: Vec<Array>,
    /// The column of the next value.
    next: usize,
    width: usize,
}

impl Arrays {
    /// Turns rows of `width` values, each of which `bind` binds, into columns.
    pub(super) fn of<T>(
        width: usize,
        rows: &[T],
        bind: &impl Fn(&mut Binder<'_>, &T),
    ) -> Result<Self, StorageError> {
        let mut arrays = Self { columns: Vec::with_capacity(width), next: 0, width };
        let mut binder = Binder::new(&mut arrays);
        rows.iter().for_each(|row| bind(&mut binder, row));
        binder.done()?;
        Ok(arrays)
    }

    /// Returns them as sqlx takes them.
    pub(super) fn arguments(self) -> Result<PgArguments, StorageError> {
        let mut arguments = PgArguments::default();
        for column in self.columns {
            arguments.add(column).map_err(StorageError::Other)?;
        }
        Ok(arguments)
    }
}

impl Target for Arrays {
    fn put(&mut self, value: Value<'_>) -> Result<(), BoxDynError> {
        if self.columns.len() == self.next {
            self.columns.push(Array::of(kind(&value)));
        }
        if let Some(column) = self.columns.get_mut(self.next) {
            column.push(value)?;
        }
        self.next = (self.next + 1) % self.width;
        Ok(())
    }
}

fn kind(value: &Value<'_>) -> Kind {
    match value {
        Value::Null(kind) => *kind,
        Value::Integer(_) => Kind::Integer,
        Value::Text(_) => Kind::Text,
        Value::Json(_) => Kind::Json,
        Value::Bytes(_) => Kind::Bytes,
    }
}

/// The values of a column, as Postgres reads the elements of an array.
struct Array {
    kind: Kind,
    count: u32,
    has_nulls: bool,
    elements: Vec<u8>,
}

/// The length of a value that is not there.
const NULL: i32 = -1;
/// The version of the binary form of JSON.
const JSON_VERSION: u8 = 1;

impl Array {
    fn of(kind: Kind) -> Self {
        Self { kind, count: 0, has_nulls: false, elements: Vec::new() }
    }

    fn push(&mut self, value: Value<'_>) -> Result<(), BoxDynError> {
        if kind(&value) != self.kind {
            return Err("a column with values of two kinds".into());
        }
        self.count += 1;
        match value {
            Value::Null(_) => {
                self.has_nulls = true;
                self.elements.extend_from_slice(&NULL.to_be_bytes());
            }
            Value::Integer(number) => self.push_bytes(&[], &number.to_be_bytes())?,
            Value::Text(text) => self.push_bytes(&[], text.as_bytes())?,
            Value::Json(text) => self.push_bytes(&[JSON_VERSION], text.as_bytes())?,
            Value::Bytes(bytes) => self.push_bytes(&[], &bytes)?,
        }
        Ok(())
    }

    fn push_bytes(&mut self, version: &[u8], bytes: &[u8]) -> Result<(), BoxDynError> {
        let length = i32::try_from(version.len() + bytes.len())?;
        self.elements.extend_from_slice(&length.to_be_bytes());
        self.elements.extend_from_slice(version);
        self.elements.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the type of its elements, as every server numbers it.
    fn element_type(&self) -> u32 {
        match self.kind {
            Kind::Integer => 20,
            Kind::Text => 25,
            Kind::Json => 3802,
            Kind::Bytes => 17,
        }
    }
}

impl Type<Postgres> for Array {
    fn type_info() -> PgTypeInfo {
        <Vec<String> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Array {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        const DIMENSIONS: u32 = 1;
        const LOWER_BOUND: u32 = 1;
        for number in [DIMENSIONS, self.has_nulls.into(), self.element_type(), self.count, LOWER_BOUND] {
            buffer.extend_from_slice(&number.to_be_bytes());
        }
        buffer.extend_from_slice(&self.elements);
        Ok(IsNull::No)
    }

    fn produces(&self) -> Option<PgTypeInfo> {
        Some(match self.kind {
            Kind::Integer => <Vec<i64> as Type<Postgres>>::type_info(),
            Kind::Text => <Vec<String> as Type<Postgres>>::type_info(),
            Kind::Json => <Vec<Json<()>> as Type<Postgres>>::type_info(),
            Kind::Bytes => <Vec<Vec<u8>> as Type<Postgres>>::type_info(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let rows = [("a", Some(1_i64)), ("bc", None)];
        let bind = |to: &mut Binder<'_>, (text, number): &(&str, Option<i64>)| {
            to.bind(*text).bind(*number);
        };
        let arrays = Arrays::of(2, &rows, &bind).expect("columns");
        let elements: Vec<(u32, bool, &[u8])> =
            arrays.columns.iter().map(|one| (one.count, one.has_nulls, &one.elements[..])).collect();
        let texts: &[u8] = b"\0\0\0\x01a\0\0\0\x02bc";
        let numbers: &[u8] = b"\0\0\0\x08\0\0\0\0\0\0\0\x01\xff\xff\xff\xff";
        assert_eq!(elements, [(2, false, texts), (2, true, numbers)]);
    }

    #[test]
    fn a_column_has_values_of_one_kind() {
        let bind = |to: &mut Binder<'_>, is_json: &bool| {
            if *is_json {
                to.bind(flowsdk_core::cell::Json("a"))
            } else {
                to.bind("a")
            };
        };
        assert!(Arrays::of(1, &[true, true], &bind).is_ok());
        assert!(Arrays::of(1, &[true, false], &bind).is_err());
    }
}
