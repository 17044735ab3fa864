//! Lists, mostly newest first: a text for each set of filters, so that each walks an index that has the rows it asks for in
//! front, in order.

mod fetch;
mod text;

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use flowsdk_core::cell::{Cell, Value};
use flowsdk_core::fault::BoxError;
use flowsdk_core::id::RouterId;

pub(super) use fetch::Place;

use super::record::Record;
use super::statement::Sql;

/// The routers of a list, for a caller who may see those in `only` and may have asked for one: `None` is all of them,
/// and an empty list is none.
pub(super) fn routers<'a>(
    asked: Option<&'a RouterId>,
    only: Option<&'a [RouterId]>,
) -> Option<&'a [RouterId]> {
    match (asked, only) {
        (None, only) => only,
        (Some(asked), Some(only)) if !only.contains(asked) => Some(&[]),
        (Some(asked), _) => Some(std::slice::from_ref(asked)),
    }
}

/// Whether a filter applies.
#[derive(Debug)]
pub(super) enum Asked<'a> {
    /// The caller does not use the filter.
    No,
    /// It does, and its condition has no bind.
    Yes,
    /// It does, with this bind.
    For(Result<Value<'a>, BoxError>),
}

/// A filter that applies if there is a value.
pub(super) fn asked<T: Cell>(value: &Option<T>) -> Asked<'_> {
    value.as_ref().map_or(Asked::No, given)
}

/// A filter that applies with this value.
pub(super) fn given<T: Cell>(value: &T) -> Asked<'_> {
    Asked::For(value.to_value())
}

/// A filter that applies if this is so.
pub(super) fn asked_if(asked: bool) -> Asked<'static> {
    if asked { Asked::Yes } else { Asked::No }
}

/// A condition, and whether the request (`F`) wants it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter<F: 'static> {
    /// With `{}` for its bind.
    sqlite: &'static str,
    postgres: &'static str,
    /// On the table of the scope, where that is another one.
    scoped: Option<&'static str>,
    asked: fn(&F) -> Asked<'_>,
    always: bool,
    index: Option<Index>,
}

/// The index that SQLite is told, without and behind a router. An empty name tells it none.
#[derive(Debug, Clone, Copy)]
struct Index {
    of_all: &'static str,
    of_router: &'static str,
}

/// Filters that have an index of their own where all are in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Together {
    /// Their conditions on SQLite.
    conditions: &'static [&'static str],
    index: Index,
}

impl Together {
    /// Tells SQLite the index, without and behind a router. Conditions are those of the list's filters to the letter.
    pub(super) const fn of(
        conditions: &'static [&'static str],
        of_all: &'static str,
        of_router: &'static str,
    ) -> Self {
        Self { conditions, index: Index { of_all, of_router } }
    }

    /// Returns whether all of them are among the filters in use.
    fn are<F: 'static>(&self, used: impl Iterator<Item = &'static Filter<F>> + Clone) -> bool {
        self.conditions.iter().all(|condition| used.clone().any(|filter| filter.sqlite == *condition))
    }
}

impl<F> Filter<F> {
    /// The same condition on both engines.
    pub(super) const fn of(text: &'static str, asked: fn(&F) -> Asked<'_>) -> Self {
        Self::per(text, text, asked)
    }

    /// A condition for each engine.
    pub(super) const fn per(
        sqlite: &'static str,
        postgres: &'static str,
        asked: fn(&F) -> Asked<'_>,
    ) -> Self {
        Self { sqlite, postgres, scoped: None, asked, always: false, index: None }
    }

    /// A condition that every text has.
    pub(super) const fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// With another condition on the table of the scope.
    pub(super) const fn or_scoped(mut self, text: &'static str) -> Self {
        self.scoped = Some(text);
        self
    }

    /// Tells SQLite the index, unless a filter before this one told it another.
    pub(super) const fn indexed(mut self, of_all: &'static str, of_router: &'static str) -> Self {
        self.index = Some(Index { of_all, of_router });
        self
    }
}

/// The column of the router, and the table that has it.
#[derive(Debug, Clone, Copy)]
struct Scope {
    table: &'static str,
    at: &'static str,
    id: &'static str,
    router: &'static str,
}

/// A list of a table, of which `F` is the filter of a request.
#[derive(Debug)]
pub(super) struct ListSql<F: 'static = ()> {
    /// `SELECT ..` up to the `WHERE`, in which the table has its own name.
    select: &'static str,
    table: &'static str,
    /// The columns of the order; the first may be none.
    at: &'static str,
    id: &'static str,
    scope: Option<Scope>,
    index: Option<Index>,
    oldest_first: bool,
    /// Postgres plans it anew with its values.
    replanned: bool,
    filters: &'static [Filter<F>],
    together: &'static [Together],
    texts: RwLock<BTreeMap<usize, Sql>>,
}

/// The routers of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Routers {
    All,
    One,
    Several,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

impl<F> ListSql<F> {
    /// Lists records by their creation.
    pub(super) const fn of<R: Record>() -> Self {
        Self::new(R::SELECT, R::TABLE)
    }

    /// Lists the columns `select` of `table` by creation.
    pub(super) const fn new(select: &'static str, table: &'static str) -> Self {
        Self {
            select,
            table,
            at: "created_at",
            id: "id",
            scope: None,
            index: None,
            oldest_first: false,
            replanned: false,
            filters: &[],
            together: &[],
            texts: RwLock::new(BTreeMap::new()),
        }
    }

    /// In the order of these columns, of which `at` may be empty.
    pub(super) const fn by(mut self, at: &'static str, id: &'static str) -> Self {
        (self.at, self.id) = (at, id);
        self
    }

    /// In the opposite direction.
    pub(super) const fn oldest_first(mut self) -> Self {
        self.oldest_first = true;
        self
    }

    /// With this column of its own for the router.
    pub(super) const fn within(mut self, router: &'static str) -> Self {
        self.scope = Some(Scope { table: self.table, at: self.at, id: self.id, router });
        self
    }

    /// With the router in another table, whose columns `at` and `id` are those of the order.
    pub(super) const fn within_joined(
        mut self,
        table: &'static str,
        at: &'static str,
        id: &'static str,
        router: &'static str,
    ) -> Self {
        self.scope = Some(Scope { table, at, id, router });
        self
    }

    /// Tells SQLite the index where no filter does.
    pub(super) const fn indexed(mut self, of_all: &'static str, of_router: &'static str) -> Self {
        self.index = Some(Index { of_all, of_router });
        self
    }

    /// Planned anew by Postgres with its values, where one plan for all would be far from the best.
    pub(super) const fn replanned(mut self) -> Self {
        self.replanned = true;
        self
    }

    /// Sets the filters of the list; a bit of a shape stands for each.
    pub(super) const fn filters(mut self, filters: &'static [Filter<F>]) -> Self {
        self.filters = filters;
        self
    }

    /// Sets the filters with an index in common. The first whose filters are all in use goes before that of any filter.
    pub(super) const fn together(mut self, together: &'static [Together]) -> Self {
        self.together = together;
        self
    }

    /// The statement for these routers, with the filters of this bit set.
    fn sql(&self, routers: Routers, used: usize) -> Sql {
        let shape = used * 3 + routers as usize;
        if let Some(known) = self.texts.read().unwrap_or_else(PoisonError::into_inner).get(&shape) {
            return *known;
        }
        // Leaked once a shape, like the statements over rows.
        let leak = |engine| -> &'static str { Box::leak(self.text(engine, routers, used).into_boxed_str()) };
        let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
        *texts
            .entry(shape)
            .or_insert_with(|| Sql { sqlite: leak(Engine::Sqlite), postgres: leak(Engine::Postgres) })
    }

    /// Returns the table's name.
    #[cfg(test)]
    pub(super) fn table(&self) -> &'static str {
        self.table
    }

    /// The statement of every shape, so that a test can prepare them.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Sql> {
        self.shapes().into_iter().map(|(.., sql)| sql).collect()
    }

    /// Every shape: its routers, its filters and its statement.
    #[cfg(test)]
    pub(super) fn shapes(&self) -> Vec<(Routers, Vec<bool>, Sql)> {
        let routers: &[Routers] = match self.scope {
            Some(_) => &[Routers::All, Routers::One, Routers::Several],
            None => &[Routers::All],
        };
        let always = self.filters.iter().enumerate().filter(|(_, filter)| filter.always);
        let always = always.fold(0, |bits, (index, _)| bits | 1 << index);
        let used = (0..1_usize << self.filters.len()).filter(|used| used & always == always);
        used.flat_map(|used| routers.iter().map(move |&routers| (routers, used)))
            .map(|(routers, used)| {
                let filters = (0..self.filters.len()).map(|index| used >> index & 1 == 1).collect();
                (routers, filters, self.sql(routers, used))
            })
            .collect()
    }
}
