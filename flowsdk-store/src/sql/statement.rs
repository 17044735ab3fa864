//! Statements: one text for both engines, and the few that differ.

use std::sync::OnceLock;

use super::record::Record;

/// A statement as each engine wants it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

/// The same text for both engines.
pub(crate) const fn sql(text: &'static str) -> Sql {
    Sql { sqlite: text, postgres: text }
}

/// A text each, with the reason beside the constant.
pub(crate) const fn sql_per(sqlite: &'static str, postgres: &'static str) -> Sql {
    Sql { sqlite, postgres }
}

/// `... column IN <list> ...`, where the list travels as one JSON bind. `$head` ends with the column.
///
/// On Postgres the list becomes an array, whose elements are looked up in the index of the column. A plan that is kept
/// joins a subquery of unknown length by reading the whole table.
macro_rules! sql_list {
    ($head:expr, $bind:literal, $tail:expr) => {
        $crate::sql::statement::sql_per(
            constcat::concat!($head, "IN (SELECT value FROM json_each(", $bind, "))", $tail),
            constcat::concat!($head, "= ANY(ARRAY(SELECT jsonb_array_elements_text(", $bind, ")))", $tail),
        )
    };
    ($head:expr, $bind:literal, $tail:expr, locking) => {
        $crate::sql::statement::sql_per(
            constcat::concat!($head, "IN (SELECT value FROM json_each(", $bind, "))", $tail),
            constcat::concat!(
                $head,
                "= ANY(ARRAY(SELECT jsonb_array_elements_text(",
                $bind,
                ")))",
                $tail,
                " FOR UPDATE"
            ),
        )
    };
}
pub(crate) use sql_list;

/// Rows that stay locked until the transaction ends; on SQLite the one writer has locked everything.
macro_rules! sql_locking {
    ($text:expr) => {
        $crate::sql::statement::sql_per($text, constcat::concat!($text, " FOR UPDATE"))
    };
}
pub(crate) use sql_locking;

/// Lists the statements of a file, then those over rows, for the test that prepares them all.
macro_rules! statements {
    ($($one:ident),* $(; $($rows:ident),*)?) => {
        #[cfg(test)]
        pub(super) fn statements() -> Vec<(&'static str, $crate::sql::statement::Sql)> {
            let one = [$((stringify!($one), $one)),*].into_iter();
            $($(let one = one.chain($rows.all().into_iter().map(|sql| (stringify!($rows), sql)));)*)?
            one.collect()
        }
    };
}
pub(super) use statements;

/// Most rows of one statement on Postgres.
pub(super) const MOST_ROWS: usize = 1_024;

/// A statement over rows: on Postgres over an array a column, on SQLite run again for each row.
#[derive(Debug)]
pub(crate) struct RowsSql {
    /// It ends with `VALUES `.
    head: &'static str,
    columns: usize,
    /// Postgres types of the columns, where no table tells them.
    types: &'static [&'static str],
    tail: &'static str,
    /// The statement for SQLite, where it has one of its own.
    one: Option<&'static str>,
    single: OnceLock<&'static str>,
    of_row: OnceLock<&'static str>,
    of_arrays: OnceLock<&'static str>,
}

/// What stands before the rows of a statement.
const VALUES: &str = "VALUES ";

/// Leaked once a statement: the drivers keep prepared statements by static text.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

impl RowsSql {
    /// `head`, then a row of `columns` binds for each item, then `tail`.
    pub(crate) const fn new(head: &'static str, columns: usize, tail: &'static str) -> Self {
        Self {
            head,
            columns,
            types: &[],
            tail,
            one: None,
            single: OnceLock::new(),
            of_row: OnceLock::new(),
            of_arrays: OnceLock::new(),
        }
    }

    /// Inserts records, and then `tail`.
    pub(crate) const fn insert<R: Record>(tail: &'static str) -> Self {
        Self::new(R::INTO, R::COUNT, tail)
    }

    /// The same for rows that are not inserted into a table, whose types Postgres must be told.
    pub(crate) const fn typed(
        head: &'static str,
        types: &'static [&'static str],
        tail: &'static str,
    ) -> Self {
        let mut new = Self::new(head, types.len(), tail);
        new.types = types;
        new
    }

    /// Runs `sqlite` on SQLite, which takes the binds of a row in their order.
    pub(crate) const fn or_one_by_one(mut self, sqlite: &'static str) -> Self {
        self.one = Some(sqlite);
        self
    }

    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The statement of one row, for Postgres.
    pub(crate) fn of_row(&self) -> &'static str {
        self.of_row.get_or_init(|| {
            leak(self.text(|column| match self.types.get(column) {
                Some(name) => format!("${}::{name}", column + 1),
                None => format!("${}", column + 1),
            }))
        })
    }

    /// The statement of rows that come as an array a column, for Postgres. A bind a value costs more than the row, and
    /// takes a text for each number of rows.
    pub(crate) fn of_arrays(&self) -> &'static str {
        self.of_arrays.get_or_init(|| {
            let bind = |column: usize| match self.types.get(column) {
                Some(name) => format!("${}::{name}[]", column + 1),
                None => format!("${}", column + 1),
            };
            let binds: Vec<String> = (0..self.columns).map(bind).collect();
            let head = self.head.strip_suffix(VALUES).unwrap_or(self.head);
            leak(format!("{head}SELECT * FROM unnest({}){}", binds.join(", "), self.tail))
        })
    }

    /// The statement of one row, for SQLite.
    pub(crate) fn single(&self) -> &'static str {
        self.one.unwrap_or_else(|| self.single.get_or_init(|| leak(self.sqlite())))
    }

    /// `OR FAIL` spares SQLite a journal of the statement, which is of no use here: a statement that fails takes its
    /// whole transaction with it.
    fn sqlite(&self) -> String {
        let text = self.text(|column| format!("?{}", column + 1));
        let text = text.replacen("INSERT INTO", "INSERT OR FAIL INTO", 1);
        text.replacen(") UPDATE ", ") UPDATE OR FAIL ", 1)
    }

    /// The statement of one row.
    fn text(&self, bind: impl Fn(usize) -> String) -> String {
        let binds: Vec<String> = (0..self.columns).map(bind).collect();
        format!("{}({}){}", self.head, binds.join(", "), self.tail)
    }

    /// Without types nobody but a driver, which names those of its binds, can prepare the statement of arrays.
    #[cfg(test)]
    pub(crate) fn all(&self) -> Vec<Sql> {
        let arrays = (!self.types.is_empty()).then(|| self.of_arrays());
        let texts = std::iter::once(self.of_row()).chain(arrays);
        texts.map(|postgres| Sql { sqlite: self.single(), postgres }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_one_by_one_or_an_array_a_column() {
        static INSERT: RowsSql = RowsSql::new("INSERT INTO t VALUES ", 2, " ON CONFLICT DO NOTHING");
        assert_eq!(INSERT.of_row(), "INSERT INTO t VALUES ($1, $2) ON CONFLICT DO NOTHING");
        assert_eq!(INSERT.of_arrays(), "INSERT INTO t SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING");
        assert_eq!(INSERT.single(), "INSERT OR FAIL INTO t VALUES (?1, ?2) ON CONFLICT DO NOTHING");
        static UPDATE: RowsSql =
            RowsSql::typed("WITH new AS (VALUES ", &["text", "bigint"], ") UPDATE t SET a = 1");
        assert_eq!(UPDATE.of_row(), "WITH new AS (VALUES ($1::text, $2::bigint)) UPDATE t SET a = 1");
        let arrays = "WITH new AS (SELECT * FROM unnest($1::text[], $2::bigint[])) UPDATE t SET a = 1";
        assert_eq!(UPDATE.of_arrays(), arrays);
        assert_eq!(UPDATE.single(), "WITH new AS (VALUES (?1, ?2)) UPDATE OR FAIL t SET a = 1");
    }
}
