//! Statements with their binds.

use std::borrow::Cow;

use flowsdk_core::fault::StorageError;
use rusqlite::{CachedStatement, Result, Statement};
use serde::Serialize;
use sqlx::types::Json;

use super::{Row, storage_error};

/// A value to bind.
pub(in crate::sql) trait Bind {
    /// Binds it to the parameter `index`, from 1.
    fn bind(&self, statement: &mut Statement<'_>, index: usize) -> Result<()>;
}

macro_rules! plain {
    ($($kind:ty),*) => { $(
        impl Bind for $kind {
            fn bind(&self, statement: &mut Statement<'_>, index: usize) -> Result<()> {
                statement.raw_bind_parameter(index, self)
            }
        }
    )* };
}

plain!(str, String, i64, bool);

impl Bind for Cow<'_, str> {
    fn bind(&self, statement: &mut Statement<'_>, index: usize) -> Result<()> {
        statement.raw_bind_parameter(index, &**self)
    }
}

impl<T: Serialize> Bind for Json<T> {
    fn bind(&self, statement: &mut Statement<'_>, index: usize) -> Result<()> {
        let text = serde_json::to_string(&self.0)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        statement.raw_bind_parameter(index, text)
    }
}

impl<T: Bind> Bind for Option<T> {
    fn bind(&self, statement: &mut Statement<'_>, index: usize) -> Result<()> {
        match self {
            Some(value) => value.bind(statement, index),
            None => statement.raw_bind_parameter(index, rusqlite::types::Null),
        }
    }
}

impl<T: Bind + ?Sized> Bind for &T {
    fn bind(&self, statement: &mut Statement<'_>, index: usize) -> Result<()> {
        (**self).bind(statement, index)
    }
}

/// A prepared statement that is given its binds one by one, and then run. The first thing that goes wrong is what
/// running it gives.
#[must_use]
pub(in crate::sql) struct Prepared<'c> {
    statement: Result<CachedStatement<'c>>,
    bound: usize,
}

impl<'c> Prepared<'c> {
    pub(super) fn new(statement: Result<CachedStatement<'c>>) -> Self {
        Self { statement, bound: 0 }
    }

    /// Binds the next parameter.
    pub(in crate::sql) fn bind(mut self, value: impl Bind) -> Self {
        self.bound += 1;
        if let Ok(statement) = &mut self.statement
            && let Err(error) = value.bind(statement, self.bound)
        {
            self.statement = Err(error);
        }
        self
    }

    /// Runs it; gives the number of rows it changed.
    pub(in crate::sql) fn execute(self) -> Result<u64, StorageError> {
        self.execute_again().map(|(rows, _)| rows)
    }

    /// Runs it; gives the number of rows it changed, and itself, ready for other binds.
    pub(in crate::sql) fn execute_again(self) -> Result<(u64, Self), StorageError> {
        let mut statement = self.statement.map_err(storage_error)?;
        let rows = statement.raw_execute().map_err(storage_error)?;
        Ok((rows as u64, Self::new(Ok(statement))))
    }

    /// Runs it; gives its rows.
    pub(in crate::sql) fn fetch_all<R: Row>(self) -> Result<Vec<R>, StorageError> {
        let mut statement = self.statement.map_err(storage_error)?;
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(storage_error)? {
            found.push(R::read(row)?);
        }
        Ok(found)
    }

    /// Runs it to its end; gives its first row, if there is one.
    pub(in crate::sql) fn fetch_optional<R: Row>(self) -> Result<Option<R>, StorageError> {
        Ok(self.fetch_all()?.into_iter().next())
    }
}
