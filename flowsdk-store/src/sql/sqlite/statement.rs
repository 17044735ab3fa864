//! Statements with their binds.

use flowsdk_core::cell::Value;
use flowsdk_core::fault::StorageError;
use rusqlite::{CachedStatement, Result};

use super::storage_error;
use crate::sql::damage::Damage;
use crate::sql::row::{Cells, Row};

/// A prepared statement that is given its binds one by one, and then run. The run returns
/// the first error of any of them.
#[must_use]
pub(in crate::sql) struct Prepared<'c> {
    statement: Result<CachedStatement<'c>>,
    text: &'static str,
    bound: usize,
    damage: Option<&'c Damage>,
}

impl<'c> Prepared<'c> {
    pub(super) fn new(
        statement: Result<CachedStatement<'c>>,
        text: &'static str,
        damage: Option<&'c Damage>,
    ) -> Self {
        Self { statement, text, bound: 0, damage }
    }

    /// Binds the next parameter.
    pub(in crate::sql) fn put(&mut self, value: Value<'_>) {
        self.bound += 1;
        let Ok(statement) = &mut self.statement else {
            return;
        };
        let done = match value {
            Value::Null(_) => statement.raw_bind_parameter(self.bound, rusqlite::types::Null),
            Value::Integer(number) => statement.raw_bind_parameter(self.bound, number),
            Value::Text(text) | Value::Json(text) => statement.raw_bind_parameter(self.bound, &*text),
            Value::Bytes(bytes) => statement.raw_bind_parameter(self.bound, &*bytes),
        };
        if let Err(error) = done {
            self.statement = Err(error);
        }
    }

    /// Runs it. Returns the number of rows it changed.
    pub(in crate::sql) fn execute(mut self) -> Result<u64, StorageError> {
        self.execute_again()
    }

    /// Runs it, and makes it ready for other binds. Returns the number of rows it changed.
    pub(in crate::sql) fn execute_again(&mut self) -> Result<u64, StorageError> {
        self.bound = 0;
        match &mut self.statement {
            Ok(statement) => {
                let done = statement.raw_execute().map(|rows| rows as u64).map_err(storage_error);
                noted(self.damage, done)
            }
            failed => {
                let gone = Err(rusqlite::Error::InvalidQuery);
                let Err(error) = std::mem::replace(failed, gone) else { return Ok(0) };
                noted(self.damage, Err(storage_error(error)))
            }
        }
    }

    /// Runs it. Returns its rows.
    pub(in crate::sql) fn fetch_all<R: Row>(self) -> Result<Vec<R>, StorageError> {
        let mut statement = noted(self.damage, self.statement.map_err(storage_error))?;
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = noted(self.damage, rows.next().map_err(storage_error))? {
            found.push(R::read(&mut Cells::new(row, self.text))?);
        }
        Ok(found)
    }

    /// Runs it to its end. Returns its first row, if there is one.
    pub(in crate::sql) fn fetch_optional<R: Row>(self) -> Result<Option<R>, StorageError> {
        let mut statement = noted(self.damage, self.statement.map_err(storage_error))?;
        let mut rows = statement.raw_query();
        let first = match noted(self.damage, rows.next().map_err(storage_error))? {
            Some(row) => Some(R::read(&mut Cells::new(row, self.text))?),
            None => return Ok(None),
        };
        while noted(self.damage, rows.next().map_err(storage_error))?.is_some() {}
        Ok(first)
    }
}

/// Notes damage where there is a file that can have some.
fn noted<T>(damage: Option<&Damage>, outcome: Result<T, StorageError>) -> Result<T, StorageError> {
    match damage {
        Some(damage) => damage.note(outcome),
        None => outcome,
    }
}
