//! One list a table: its columns, their binds and how its rows are read.

use flowsdk_core::fault::StorageError;

use super::bind::{Binder, Binds};
use super::row::{Cells, Row};

/// A type that is the rows of a table.
pub(crate) trait Record: Row {
    /// The name of the table.
    const TABLE: &'static str;
    /// Its columns, in the order of binds and rows.
    const COLUMNS: &'static str;
    /// The number of columns.
    const COUNT: usize;
    /// `SELECT <columns> FROM <table>`.
    const SELECT: &'static str;
    /// `SELECT <columns> FROM <table> WHERE <first column> = $1`.
    const FIND: &'static str;
    /// The same with ` FOR UPDATE`.
    const FIND_FOR_UPDATE: &'static str;
    /// `INSERT INTO <table> (<columns>) VALUES `, without a row of binds.
    const INTO: &'static str;
    /// `INSERT INTO <table> (<columns>) VALUES ($1, ..)`.
    const INSERT: &'static str;
    /// `UPDATE <table> SET (<columns that change>) = ($2, ..) WHERE <first column> = $1`.
    const UPDATE: &'static str;
    /// `DELETE FROM <table> WHERE <first column> = $1`.
    const DELETE: &'static str;

    /// Binds every column in the order of the list.
    fn bind(&self, to: &mut Binder<'_>);

    /// Binds the first column, and those that change.
    fn bind_changes(&self, to: &mut Binder<'_>);
}

/// The binds of [`Record::INSERT`].
#[derive(Debug)]
pub(crate) struct All<'a, R>(pub(crate) &'a R);

impl<R: Record> Binds for All<'_, R> {
    fn bind_all(self, to: &mut Binder<'_>) {
        self.0.bind(to);
    }
}

/// The binds of [`Record::UPDATE`].
#[derive(Debug)]
pub(crate) struct Changes<'a, R>(pub(crate) &'a R);

impl<R: Record> Binds for Changes<'_, R> {
    fn bind_all(self, to: &mut Binder<'_>) {
        self.0.bind_changes(to);
    }
}

/// A field that is several columns.
pub(crate) trait Part: Sized {
    /// The columns, separated by commas.
    const COLUMNS: &'static str;
    /// The number of columns.
    const COUNT: usize;

    /// Reads them, of a row of `table`.
    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError>;

    /// Binds the columns in the order of the list.
    fn bind(&self, to: &mut Binder<'_>);
}

/// Makes a type the record of a table: `record! { Type in "table" { id, fixed, ..; changing, .. } }`.
///
/// Each field is a column of its name, or of another: `field = column`. `field: json` is a column of JSON,
/// `field: json_or_null` one of an `Option`, `field: json_unless_empty` one that is NULL for an empty value. `field as
/// Type` is a [`Part`]. An update changes the fields behind the semicolon.
macro_rules! record {
    ($record:ident in $table:literal {
        $key:ident $(= $key_column:ident)?
        $(, $fixed:ident $(= $fixed_column:ident)? $(: $fixed_how:ident)? $(as $fixed_part:ty)?)*
        $(; $($late:ident $(= $late_column:ident)? $(: $late_how:ident)? $(as $late_part:ty)?),+)?
        $(,)?
    }) => {
        impl $crate::sql::row::Row for $record {
            fn read(
                cells: &mut $crate::sql::row::Cells<'_>,
            ) -> Result<Self, flowsdk_core::fault::StorageError> {
                const TABLE: &str = $table;
                Ok(Self {
                    $key: $crate::sql::record::record!(@read cells $key $(= $key_column)?),
                    $($fixed: $crate::sql::record::record!(
                        @read cells $fixed $(= $fixed_column)? $(: $fixed_how)? $(as $fixed_part)?
                    ),)*
                    $($($late: $crate::sql::record::record!(
                        @read cells $late $(= $late_column)? $(: $late_how)? $(as $late_part)?
                    ),)+)?
                })
            }
        }

        impl $crate::sql::record::Record for $record {
            const TABLE: &'static str = $table;
            const COLUMNS: &'static str = constcat::concat!(
                $crate::sql::record::record!(@column $key $(= $key_column)?)
                $(, ", ", $crate::sql::record::record!(@column $fixed $(= $fixed_column)? $(as $fixed_part)?))*
                $($(, ", ", $crate::sql::record::record!(@column $late $(= $late_column)? $(as $late_part)?))+)?
            );
            const COUNT: usize = 1
                $(+ $crate::sql::record::record!(@count $fixed $(as $fixed_part)?))*
                $($(+ $crate::sql::record::record!(@count $late $(as $late_part)?))+)?;
            const SELECT: &'static str = constcat::concat!("SELECT ", <$record as $crate::sql::record::Record>::COLUMNS, " FROM ", $table);
            const FIND: &'static str = constcat::concat!(
                <$record as $crate::sql::record::Record>::SELECT,
                " WHERE ", $crate::sql::record::record!(@column $key $(= $key_column)?), " = $1"
            );
            const FIND_FOR_UPDATE: &'static str =
                constcat::concat!(<$record as $crate::sql::record::Record>::FIND, " FOR UPDATE");
            const INTO: &'static str =
                constcat::concat!("INSERT INTO ", $table, " (", <$record as $crate::sql::record::Record>::COLUMNS, ") VALUES ");
            const INSERT: &'static str = constcat::concat!(
                <$record as $crate::sql::record::Record>::INTO,
                "(", $crate::sql::record::placeholders(1, <$record as $crate::sql::record::Record>::COUNT), ")"
            );
            const UPDATE: &'static str = constcat::concat!(
                "UPDATE ", $table, " SET (",
                $crate::sql::record::list(constcat::concat!(
                    "" $($(, ", ", $crate::sql::record::record!(@column $late $(= $late_column)? $(as $late_part)?))+)?
                )),
                ") = (",
                $crate::sql::record::placeholders(
                    2, 0 $($(+ $crate::sql::record::record!(@count $late $(as $late_part)?))+)?
                ),
                ") WHERE ", $crate::sql::record::record!(@column $key $(= $key_column)?), " = $1"
            );
            const DELETE: &'static str = constcat::concat!(
                "DELETE FROM ", $table, " WHERE ", $crate::sql::record::record!(@column $key $(= $key_column)?), " = $1"
            );

            fn bind(&self, to: &mut $crate::sql::bind::Binder<'_>) {
                to.bind(&self.$key);
                $($crate::sql::record::record!(
                    @bind self to $fixed $(: $fixed_how)? $(as $fixed_part)?
                );)*
                $($($crate::sql::record::record!(@bind self to $late $(: $late_how)? $(as $late_part)?);)+)?
            }

            fn bind_changes(&self, to: &mut $crate::sql::bind::Binder<'_>) {
                to.bind(&self.$key);
                $($($crate::sql::record::record!(@bind self to $late $(: $late_how)? $(as $late_part)?);)+)?
            }
        }
    };

    (@column $field:ident) => { stringify!($field) };
    (@column $field:ident = $column:ident) => { stringify!($column) };
    (@column $field:ident as $part:ty) => { <$part as $crate::sql::record::Part>::COLUMNS };

    (@count $field:ident) => { 1 };
    (@count $field:ident as $part:ty) => { <$part as $crate::sql::record::Part>::COUNT };

    (@read $cells:ident $field:ident) => { $cells.of(TABLE, stringify!($field))? };
    (@read $cells:ident $field:ident = $column:ident) => { $cells.of(TABLE, stringify!($column))? };
    (@read $cells:ident $field:ident $(= $column:ident)? : json) => {
        $cells.json(TABLE, $crate::sql::record::record!(@column $field $(= $column)?))?
    };
    (@read $cells:ident $field:ident $(= $column:ident)? : json_or_null) => {
        $cells.json_or_null(TABLE, $crate::sql::record::record!(@column $field $(= $column)?))?
    };
    (@read $cells:ident $field:ident $(= $column:ident)? : json_unless_empty) => {
        $cells.json_or_null(TABLE, $crate::sql::record::record!(@column $field $(= $column)?))?.unwrap_or_default()
    };
    (@read $cells:ident $field:ident as $part:ty) => {
        <$part as $crate::sql::record::Part>::read($cells, TABLE)?
    };

    (@bind $self:ident $to:ident $field:ident) => { $to.bind(&$self.$field) };
    (@bind $self:ident $to:ident $field:ident : json) => {
        $to.bind(flowsdk_core::cell::Json(&$self.$field))
    };
    (@bind $self:ident $to:ident $field:ident : json_or_null) => {
        $to.bind($self.$field.as_ref().map(flowsdk_core::cell::Json))
    };
    (@bind $self:ident $to:ident $field:ident : json_unless_empty) => {
        $to.bind((!$self.$field.is_empty()).then_some(flowsdk_core::cell::Json(&$self.$field)))
    };
    (@bind $self:ident $to:ident $field:ident as $part:ty) => {
        $crate::sql::record::Part::bind(&$self.$field, $to)
    };
}
pub(crate) use record;

/// Without the comma in front.
pub(super) const fn list(text: &str) -> &str {
    if text.is_empty() { text } else { text.split_at(2).1 }
}

const PLACEHOLDERS: &str = "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, \
    $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, ";

/// `count` placeholders, from `$first`.
pub(super) const fn placeholders(first: usize, count: usize) -> &'static str {
    if count == 0 {
        return "";
    }
    let (_, from) = PLACEHOLDERS.split_at(behind(first - 1));
    let (all, _) = from.split_at(behind(first + count - 1) - behind(first - 1) - 2);
    all
}

/// Where the `nth` placeholder and its comma end.
const fn behind(nth: usize) -> usize {
    let (bytes, mut at, mut seen) = (PLACEHOLDERS.as_bytes(), 0, 0);
    while seen < nth {
        assert!(at < bytes.len(), "more columns than placeholders");
        if bytes[at] == b' ' {
            seen += 1;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_counted() {
        assert_eq!(placeholders(1, 1), "$1");
        assert_eq!(placeholders(1, 3), "$1, $2, $3");
        assert_eq!(placeholders(2, 2), "$2, $3");
        assert_eq!(placeholders(9, 2), "$9, $10");
        assert_eq!(placeholders(2, 0), "");
        assert!(placeholders(1, 40).ends_with("$39, $40"));
    }
}
