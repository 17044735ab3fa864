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

/// Rows of one multi-row statement, largest first: a list is cut into these, so that only some texts are
/// prepared and a list of any length takes few of them.
const SIZES: [usize; 20] = [128, 96, 64, 48, 32, 24, 20, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

/// A statement over `VALUES`: on Postgres with as many rows as there are, on SQLite run again for each.
#[derive(Debug)]
pub(crate) struct RowsSql {
    head: &'static str,
    columns: usize,
    /// Postgres types of the columns, where no table tells them.
    types: &'static [&'static str],
    tail: &'static str,
    /// The statement for SQLite, where it has one of its own.
    one: Option<&'static str>,
    single: OnceLock<&'static str>,
    texts: [OnceLock<&'static str>; SIZES.len()],
}

/// Leaked once a size and statement: the drivers keep prepared statements by static text.
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
            texts: [const { OnceLock::new() }; SIZES.len()],
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

    /// The largest leading part of `items` that Postgres has a statement for, and the statement.
    pub(crate) fn chunk<'a, T>(&self, items: &'a [T]) -> (&'a [T], &'static str) {
        let at = SIZES.iter().position(|&size| size <= items.len()).unwrap_or(SIZES.len() - 1);
        let size = SIZES[at].min(items.len());
        let text = self.texts[at].get_or_init(|| leak(self.postgres(SIZES[at])));
        (&items[..size], text)
    }

    /// The statement of one row, for SQLite.
    pub(crate) fn single(&self) -> &'static str {
        self.one.unwrap_or_else(|| self.single.get_or_init(|| leak(self.sqlite())))
    }

    /// `OR FAIL` spares SQLite a journal of the statement, which is of no use here: a statement that fails takes its
    /// whole transaction with it.
    fn sqlite(&self) -> String {
        let text = self.text(1, |_, column| format!("?{}", column + 1));
        let text = text.replacen("INSERT INTO", "INSERT OR FAIL INTO", 1);
        text.replacen(") UPDATE ", ") UPDATE OR FAIL ", 1)
    }

    fn postgres(&self, rows: usize) -> String {
        self.text(rows, |row, column| {
            let bind = row * self.columns + column + 1;
            match self.types.get(column) {
                Some(name) if row == 0 => format!("${bind}::{name}"),
                _ => format!("${bind}"),
            }
        })
    }

    fn text(&self, rows: usize, bind: impl Fn(usize, usize) -> String) -> String {
        let row = |row| {
            let binds: Vec<String> = (0..self.columns).map(|column| bind(row, column)).collect();
            format!("({})", binds.join(", "))
        };
        let rows: Vec<String> = (0..rows).map(row).collect();
        format!("{}{}{}", self.head, rows.join(", "), self.tail)
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> Vec<Sql> {
        let of = |size| Sql { sqlite: self.single(), postgres: self.chunk(&vec![(); size]).1 };
        SIZES.into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_into_prepared_sizes() {
        static INSERT: RowsSql = RowsSql::new("INSERT INTO t VALUES ", 2, " RETURNING id");
        let items: Vec<u8> = (0..203).collect();
        let mut rest = &items[..];
        let mut sizes = Vec::new();
        while !rest.is_empty() {
            let (chunk, _) = INSERT.chunk(rest);
            sizes.push(chunk.len());
            rest = &rest[chunk.len()..];
        }
        assert_eq!(sizes, [128, 64, 10, 1]);
        let two = INSERT.chunk(&[0, 1]).1;
        assert_eq!(two, "INSERT INTO t VALUES ($1, $2), ($3, $4) RETURNING id");
        assert_eq!(INSERT.single(), "INSERT OR FAIL INTO t VALUES (?1, ?2) RETURNING id");
        static UPDATE: RowsSql =
            RowsSql::typed("WITH new AS (VALUES ", &["text", "bigint"], ") UPDATE t SET a = 1");
        let two = UPDATE.chunk(&[0, 1]).1;
        assert_eq!(two, "WITH new AS (VALUES ($1::text, $2::bigint), ($3, $4)) UPDATE t SET a = 1");
        assert_eq!(UPDATE.single(), "WITH new AS (VALUES (?1, ?2)) UPDATE OR FAIL t SET a = 1");
    }
}
