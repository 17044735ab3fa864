//! Lists, newest first: a text for each set of filters, so that each walks an index that has the rows it asks for in
//! front, in order.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use flowsdk_core::cell::{Cell, Json, Value};
use flowsdk_core::fault::{BoxError, StorageError};
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::bind::{Binder, Binds};
use super::executor::Conn;
use super::record::Record;
use super::row::Row;
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
    /// It does not.
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

/// A condition, and whether what is asked for (`F`) wants it.
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

/// A list of a table, of which `F` is what may be asked for.
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
    filters: &'static [Filter<F>],
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

    /// Lists what `select` reads of `table` by its creation.
    pub(super) const fn new(select: &'static str, table: &'static str) -> Self {
        Self {
            select,
            table,
            at: "created_at",
            id: "id",
            scope: None,
            index: None,
            filters: &[],
            texts: RwLock::new(BTreeMap::new()),
        }
    }

    /// In the order of these columns, of which `at` may be empty.
    pub(super) const fn by(mut self, at: &'static str, id: &'static str) -> Self {
        (self.at, self.id) = (at, id);
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

    /// With these filters.
    pub(super) const fn filters(mut self, filters: &'static [Filter<F>]) -> Self {
        self.filters = filters;
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

    /// The table.
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

    /// Of several routers the newest of each are found on their own, so that it costs no more when one of them has a
    /// million. SQLite knows no LATERAL, but gives a subquery to a function of a table.
    fn text(&self, engine: Engine, routers: Routers, used: usize) -> String {
        let scope = self.scope.filter(|_| routers != Routers::All);
        let own = Scope { table: self.table, at: self.at, id: self.id, router: "" };
        let Scope { table: from, at, id, router } = scope.unwrap_or(own);
        let is_joined = from != self.table;
        let order = |at: &str, id: &str| {
            if at.is_empty() { format!("{id} DESC") } else { format!("{at} DESC, {id} DESC") }
        };
        let (mut conditions, limit) = if at.is_empty() {
            (vec![format!("{id} < $1")], "$2")
        } else {
            (vec![format!("({at}, {id}) < ($1, $2)")], "$3")
        };
        let behind_place = if at.is_empty() { 3 } else { 4 };
        match routers {
            Routers::All => {}
            Routers::One => conditions.push(format!("{router} = ${behind_place}")),
            Routers::Several => conditions.push(format!("{router} = scope.value")),
        }
        let next = behind_place + usize::from(routers != Routers::All);
        conditions.extend(self.conditions(engine, is_joined, used, next));
        let conditions = conditions.join(" AND ");
        let hint = if engine == Engine::Sqlite { self.hint(routers, used) } else { String::new() };
        if routers != Routers::Several && !is_joined {
            let (select, order) = (self.select, order(at, id));
            return format!("{select}{hint} WHERE {conditions} ORDER BY {order} LIMIT {limit}");
        }
        let moment = if at.is_empty() { String::new() } else { format!(", {at} AS moment") };
        let inner = order(at, id);
        let matching = format!(
            "SELECT {id} AS id{moment} FROM {from}{hint} WHERE {conditions} ORDER BY {inner} LIMIT {limit}"
        );
        // A row of another table may be found for several routers.
        let distinct = if is_joined { "DISTINCT " } else { "" };
        let lists = format!("${behind_place}");
        let newest = if at.is_empty() { "id DESC" } else { "moment DESC, id DESC" };
        let found = match (routers, engine) {
            (Routers::All | Routers::One, _) => format!("SELECT id FROM ({matching}) AS found"),
            (Routers::Several, Engine::Sqlite) if at.is_empty() => format!(
                "SELECT found.value AS id FROM json_each({lists}) AS scope,
                    json_each((SELECT json_group_array(id) FROM ({matching}))) AS found
                 ORDER BY {newest} LIMIT {limit}"
            ),
            (Routers::Several, Engine::Sqlite) => format!(
                "SELECT id FROM (SELECT {distinct}found.value ->> 0 AS id, found.value ->> 1 AS moment
                    FROM json_each({lists}) AS scope,
                    json_each((SELECT json_group_array(json_array(id, moment)) FROM ({matching}))) AS found)
                 ORDER BY {newest} LIMIT {limit}"
            ),
            (Routers::Several, Engine::Postgres) => {
                let moment = if at.is_empty() { "" } else { ", found.moment" };
                format!(
                    "SELECT id FROM (SELECT {distinct}found.id{moment}
                        FROM jsonb_array_elements_text({lists}) AS scope (value)
                        CROSS JOIN LATERAL ({matching}) AS found) AS found
                     ORDER BY {newest} LIMIT {limit}"
                )
            }
        };
        let Self { select, table, at, id, .. } = self;
        let at = if at.is_empty() { String::new() } else { format!("{table}.{at}") };
        let order = order(&at, &format!("{table}.{id}"));
        format!("{select} WHERE {table}.{id} IN ({found}) ORDER BY {order}")
    }

    fn used(&self, used: usize) -> impl Iterator<Item = &'static Filter<F>> {
        self.filters.iter().enumerate().filter(move |(index, _)| used >> index & 1 == 1).map(|(_, one)| one)
    }

    /// The conditions of the filters in use, whose binds begin with `$next`.
    fn conditions(&self, engine: Engine, is_joined: bool, used: usize, mut next: usize) -> Vec<String> {
        let mut conditions = Vec::new();
        for filter in self.used(used) {
            let own = if engine == Engine::Sqlite { filter.sqlite } else { filter.postgres };
            let condition = filter.scoped.filter(|_| is_joined).unwrap_or(own);
            conditions.push(condition.replace("{}", &format!("${next}")));
            next += usize::from(condition.contains("{}"));
        }
        conditions
    }

    fn hint(&self, routers: Routers, used: usize) -> String {
        let index = self.used(used).find_map(|filter| filter.index).or(self.index);
        let name = index.map_or("", |index| match routers {
            Routers::All => index.of_all,
            Routers::One | Routers::Several => index.of_router,
        });
        if name.is_empty() { String::new() } else { format!(" INDEXED BY {name}") }
    }
}

/// The place before which to look; every row stands before the end of time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The moment, for lists that have one in their order.
    pub(super) at: Option<i64>,
    pub(super) id: &'a str,
    /// How many rows to read.
    pub(super) limit: i64,
}

impl<'a> Place<'a> {
    /// The place of a page, with one row too many: it tells whether there is a next page.
    pub(super) fn of(page: &'a PageRequest) -> Self {
        let before = page.after.as_ref();
        Self {
            at: Some(before.map_or(i64::MAX, |cursor| cursor.at.as_millis())),
            id: before.map_or("", |cursor| cursor.id.as_str()),
            limit: i64::from(page.limit) + 1,
        }
    }
}

/// The cursor behind a row that stands at its `place`.
pub(super) fn cursor<R>(place: impl Fn(&R) -> (Timestamp, String)) -> impl Fn(&R) -> Cursor {
    move |row| {
        let (at, id) = place(row);
        Cursor { at, id }
    }
}

struct ListBinds<'a> {
    place: Place<'a>,
    routers: Option<&'a [RouterId]>,
    filters: Vec<Asked<'a>>,
}

impl Binds for ListBinds<'_> {
    fn bind_all(self, to: &mut Binder<'_>) {
        if let Some(at) = self.place.at {
            to.bind(at);
        }
        to.bind(self.place.id).bind(self.place.limit);
        match self.routers {
            None => {}
            Some([one]) => drop(to.bind(one)),
            Some(routers) => drop(to.bind(Json(routers))),
        }
        for asked in self.filters {
            if let Asked::For(value) = asked {
                to.put(value);
            }
        }
    }
}

impl Conn {
    /// Returns the rows of a list before a place. Postgres plans them with their values.
    pub(super) async fn fetch_list<R: Row, F: Sync>(
        &mut self,
        list: &ListSql<F>,
        filter: &F,
        routers: Option<&[RouterId]>,
        place: Place<'_>,
    ) -> Result<Vec<R>, StorageError> {
        let filters: Vec<Asked<'_>> = list.filters.iter().map(|one| (one.asked)(filter)).collect();
        let used = filters.iter().enumerate().filter(|(_, asked)| !matches!(asked, Asked::No));
        let used = used.fold(0, |bits, (index, _)| bits | 1 << index);
        let mut several = routers.filter(|routers| routers.len() > 1).unwrap_or_default().to_vec();
        several.sort_unstable();
        several.dedup();
        let routers = if several.is_empty() { routers } else { Some(&several[..]) };
        let kind = match routers {
            None => Routers::All,
            Some([]) => return Ok(Vec::new()),
            Some([_]) => Routers::One,
            Some(_) => Routers::Several,
        };
        let binds = ListBinds { place, routers, filters };
        self.fetch_all_replanned(list.sql(kind, used), binds).await
    }

    /// Returns a page of a list, in whose order each row stands at its `place`.
    pub(super) async fn page<R: Row, F: Sync>(
        &mut self,
        list: &ListSql<F>,
        filter: &F,
        routers: Option<&[RouterId]>,
        page: &PageRequest,
        place: impl Fn(&R) -> (Timestamp, String),
    ) -> Result<Page<R>, StorageError> {
        let rows = self.fetch_list(list, filter, routers, Place::of(page)).await?;
        Ok(Page::from_rows(rows, page.limit, cursor(place)))
    }
}
