//! Where the rows of a store go: many at once, past the server.

use std::path::Path;

use anyhow::{Context as _, Result};
use rusqlite::ToSql;
use rusqlite::types::{Null, ToSqlOutput};
use sqlx::{Connection as _, PgConnection};

/// The page cache of SQLite while rows are written, in KiB.
const CACHE_KIB: u32 = 600_000;

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Number(i64),
    Text(String),
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Null => Ok(ToSqlOutput::from(Null)),
            Self::Number(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

/// Rows of one table.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) table: &'static str,
    pub(super) columns: &'static [&'static str],
    /// How many of the last columns are those of SQLite alone.
    pub(super) of_sqlite: usize,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub(super) fn of(table: &'static str, columns: &'static [&'static str]) -> Self {
        Self { table, columns, of_sqlite: 0, rows: Vec::new() }
    }

    pub(super) fn add<const N: usize>(&mut self, row: [Cell; N]) {
        self.rows.push(row.into());
    }

    fn insert(&self) -> String {
        let marks = vec!["?"; self.columns.len()].join(", ");
        format!("INSERT INTO {} ({}) VALUES ({marks})", self.table, self.columns.join(", "))
    }

    fn copy(&self) -> String {
        let columns = &self.columns[..self.columns.len() - self.of_sqlite];
        format!("COPY {} ({}) FROM STDIN", self.table, columns.join(", "))
    }

    /// The rows in the text form of `COPY`.
    fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            for (place, cell) in row[..row.len() - self.of_sqlite].iter().enumerate() {
                if place > 0 {
                    text.push('\t');
                }
                match cell {
                    Cell::Null => text.push_str("\\N"),
                    Cell::Number(number) => text.push_str(&number.to_string()),
                    Cell::Text(value) => escape(&mut text, value),
                }
            }
            text.push('\n');
        }
        text
    }
}

fn escape(text: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            other => text.push(other),
        }
    }
}

/// An open database whose schema is there.
#[derive(Debug)]
pub(super) enum Sink {
    Sqlite(rusqlite::Connection),
    Postgres(PgConnection),
}

impl Sink {
    /// Opens the SQLite file. What is written is safe only once [`Sink::finish`] is through.
    pub(super) fn sqlite(file: &Path) -> Result<Self> {
        let connection = rusqlite::Connection::open(file)?;
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KIB};"
        ))?;
        Ok(Self::Sqlite(connection))
    }

    pub(super) async fn postgres(url: &str) -> Result<Self> {
        Ok(Self::Postgres(PgConnection::connect(url).await?))
    }

    /// Writes `tables`, one after the other, in one transaction.
    pub(super) async fn write(&mut self, tables: &[Rows]) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                let tx = connection.transaction()?;
                for rows in tables {
                    let mut insert = tx.prepare_cached(&rows.insert())?;
                    for row in &rows.rows {
                        insert.execute(rusqlite::params_from_iter(row)).context(rows.table)?;
                    }
                }
                tx.commit()?;
            }
            Self::Postgres(connection) => {
                let mut tx = connection.begin().await?;
                for rows in tables {
                    let mut copy = tx.copy_in_raw(&rows.copy()).await?;
                    copy.send(rows.text().into_bytes()).await?;
                    copy.finish().await.context(rows.table)?;
                }
                tx.commit().await?;
            }
        }
        Ok(())
    }

    /// Brings the database to the state that one has after years: on disk, and known to the planner of Postgres.
    pub(super) async fn finish(self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
                connection.close().map_err(|(_, error)| error)?;
            }
            Self::Postgres(mut connection) => {
                sqlx::raw_sql("VACUUM ANALYZE").execute(&mut connection).await?;
                connection.close().await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_form_that_each_database_takes() {
        let mut rows = Rows { of_sqlite: 1, ..Rows::of("t", &["a", "b", "c", "d"]) };
        rows.add(["a\tb\\".into(), 7.into(), Cell::Null, "x".into()]);
        assert_eq!(rows.insert(), "INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?)");
        assert_eq!(rows.copy(), "COPY t (a, b, c) FROM STDIN");
        assert_eq!(rows.text(), "a\\tb\\\\\t7\t\\N\n");
    }
}
