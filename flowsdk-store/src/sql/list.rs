//! Texts that list something, newest first: one for each set of filters, so that each walks an index that has what is
//! asked for in front, in order.

use std::sync::OnceLock;

use flowsdk_core::id::RouterId;

use super::statement::Sql;

/// The routers of a list, for who may see those in `only` and may have asked for one: `None` is all of them, and no
/// router has what nobody may see.
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

/// A filter: its condition on each engine, with `{}` for its bind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filter {
    sqlite: &'static str,
    postgres: &'static str,
    /// On the table of the scope, where that is another one.
    scoped: Option<&'static str>,
}

impl Filter {
    /// The same condition on both engines.
    pub(super) const fn of(text: &'static str) -> Self {
        Self { sqlite: text, postgres: text, scoped: None }
    }

    /// One on each engine.
    pub(super) const fn per(sqlite: &'static str, postgres: &'static str) -> Self {
        Self { sqlite, postgres, scoped: None }
    }

    /// With another one on the table of the scope.
    pub(super) const fn or_scoped(self, text: &'static str) -> Self {
        Self { scoped: Some(text), ..self }
    }
}

/// Most filters of a list.
const MOST: usize = 4;

/// A list of a table.
#[derive(Debug)]
pub(super) struct ListSql {
    /// `SELECT ..` up to the `WHERE` of the outer query, in which the table has its own name.
    select: &'static str,
    table: &'static str,
    /// The columns of the order.
    at: &'static str,
    id: &'static str,
    /// The table of the scope with its columns for `at`, `id` and the router; the table itself where it has one.
    scope: (&'static str, &'static str, &'static str, &'static str),
    filters: &'static [Filter],
    texts: [OnceLock<Sql>; 2 << MOST],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

impl ListSql {
    /// The binds are: `$1` and `$2` the place before which to look, `$3` how many, `$4` the routers as a JSON list,
    /// then one a filter.
    pub(super) const fn new(
        select: &'static str,
        table: &'static str,
        (at, id): (&'static str, &'static str),
        scope: (&'static str, &'static str, &'static str, &'static str),
        filters: &'static [Filter],
    ) -> Self {
        assert!(filters.len() <= MOST);
        Self { select, table, at, id, scope, filters, texts: [const { OnceLock::new() }; 2 << MOST] }
    }

    /// The statement for a scope of routers or none, and these filters.
    pub(super) fn of(&self, scoped: bool, filters: &[bool]) -> Sql {
        let bits = filters.iter().fold(usize::from(scoped), |bits, used| bits * 2 + usize::from(*used));
        // Leaked once a shape, like the statements over rows.
        let leak =
            |engine| -> &'static str { Box::leak(self.text(engine, scoped, filters).into_boxed_str()) };
        *self.texts[bits]
            .get_or_init(|| Sql { sqlite: leak(Engine::Sqlite), postgres: leak(Engine::Postgres) })
    }

    /// The statement of every shape, so that a test can prepare them.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Sql> {
        self.shapes().map(|(scoped, filters)| self.of(scoped, &filters)).collect()
    }

    /// Every shape.
    #[cfg(test)]
    pub(super) fn shapes(&self) -> impl Iterator<Item = (bool, Vec<bool>)> + '_ {
        (0..2usize << self.filters.len()).map(|bits| {
            let filters = (0..self.filters.len()).map(|filter| bits >> (filter + 1) & 1 == 1);
            (bits & 1 == 1, filters.collect())
        })
    }

    /// Of several routers the newest of each are found on their own, so that it costs no more when one of them has a
    /// million. SQLite knows no LATERAL, but gives a subquery to a function of a table.
    fn text(&self, engine: Engine, scoped: bool, filters: &[bool]) -> String {
        let Self { select, table, at, id, .. } = self;
        let outer = |found: &str| {
            format!("{select} WHERE {table}.{id} IN ({found}) ORDER BY {table}.{at} DESC, {table}.{id} DESC")
        };
        let conditions = self.conditions(engine, scoped, filters);
        if !scoped {
            let found = format!(
                "SELECT {id} FROM {table} WHERE ({at}, {id}) < ($1, $2) AND CAST($4 AS TEXT) IS NULL{conditions}
                 ORDER BY {at} DESC, {id} DESC LIMIT $3"
            );
            return outer(&found);
        }
        let (from, at, id, router) = self.scope;
        let matching = format!(
            "SELECT {id} AS id, {at} AS moment FROM {from} WHERE {router} = scope.value AND ({at}, {id}) < ($1, $2){conditions}
             ORDER BY {at} DESC, {id} DESC LIMIT $3"
        );
        outer(&match engine {
            Engine::Sqlite => format!(
                "SELECT id FROM (SELECT DISTINCT found.value ->> 0 AS id, found.value ->> 1 AS moment FROM json_each($4) AS scope,
                    json_each((SELECT json_group_array(json_array(id, moment)) FROM ({matching}))) AS found)
                 ORDER BY moment DESC, id DESC LIMIT $3"
            ),
            Engine::Postgres => format!(
                "SELECT id FROM (SELECT DISTINCT found.id, found.moment FROM jsonb_array_elements_text($4) AS scope (value)
                    CROSS JOIN LATERAL ({matching}) AS found) AS found
                 ORDER BY moment DESC, id DESC LIMIT $3"
            ),
        })
    }

    fn conditions(&self, engine: Engine, scoped: bool, filters: &[bool]) -> String {
        let mut text = String::new();
        for (index, (filter, used)) in self.filters.iter().zip(filters).enumerate() {
            let bind = format!("${}", index + 5);
            let own = if engine == Engine::Sqlite { filter.sqlite } else { filter.postgres };
            let condition = filter.scoped.filter(|_| scoped).unwrap_or(own);
            text.push_str(" AND ");
            if *used {
                text.push_str(&condition.replace("{}", &bind));
            } else {
                // Every text has every bind.
                text.push_str(&format!("CAST({bind} AS TEXT) IS NULL"));
            }
        }
        text
    }
}
