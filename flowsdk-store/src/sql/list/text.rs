//! The texts of a list.

use super::{Engine, Filter, ListSql, Routers, Scope};

/// The columns of an order, and its direction; the first may be none.
#[derive(Clone, Copy)]
struct Order<'a> {
    at: &'a str,
    id: &'a str,
    oldest_first: bool,
}

impl Order<'_> {
    fn text(self) -> String {
        let Self { at, id, oldest_first } = self;
        let way = if oldest_first { "" } else { " DESC" };
        if at.is_empty() { format!("{id}{way}") } else { format!("{at}{way}, {id}{way}") }
    }

    /// The condition that a row stands on the side of the place that is looked at, and the number of rows to read.
    fn place(self) -> (String, &'static str) {
        let Self { at, id, oldest_first } = self;
        let side = if oldest_first { ">" } else { "<" };
        if at.is_empty() {
            (format!("{id} {side} $1"), "$2")
        } else {
            (format!("({at}, {id}) {side} ($1, $2)"), "$3")
        }
    }
}

/// The bind behind those of the place.
const fn behind_place(at: &str) -> usize {
    if at.is_empty() { 3 } else { 4 }
}

impl<F> ListSql<F> {
    pub(super) fn text(&self, engine: Engine, routers: Routers, used: usize) -> String {
        let own = Scope { table: self.table, at: self.at, id: self.id, router: "" };
        let scope = self.scope.filter(|_| routers != Routers::All).unwrap_or(own);
        let is_joined = scope.table != self.table;
        let order = Order { at: scope.at, id: scope.id, oldest_first: self.oldest_first };
        let (place, limit) = order.place();
        let conditions = self.conditions(engine, routers, scope, used);
        let hint = if engine == Engine::Sqlite { self.hint(routers, used) } else { String::new() };
        let end = format!("{hint} WHERE {place}{conditions} ORDER BY {} LIMIT {limit}", order.text());
        if routers != Routers::Several && !is_joined {
            return format!("{}{end}", self.select);
        }
        let moment = if scope.at.is_empty() { String::new() } else { format!(", {} AS moment", scope.at) };
        let matching = format!("SELECT {} AS id{moment} FROM {}{end}", scope.id, scope.table);
        let found = match routers {
            Routers::All | Routers::One => format!("SELECT id FROM ({matching}) AS found"),
            Routers::Several => found_of_several(engine, order, is_joined, &matching),
        };
        let Self { select, table, at, id, .. } = self;
        let (at, id) =
            (if at.is_empty() { String::new() } else { format!("{table}.{at}") }, format!("{table}.{id}"));
        let order = Order { at: &at, id: &id, ..order }.text();
        format!("{select} WHERE {id} IN ({found}) ORDER BY {order}")
    }

    /// The conditions on the router and of the filters in use, each with an AND in front.
    fn conditions(&self, engine: Engine, routers: Routers, scope: Scope, used: usize) -> String {
        let mut next = behind_place(scope.at);
        let mut text = match routers {
            Routers::All => String::new(),
            Routers::One => format!(" AND {} = ${next}", scope.router),
            Routers::Several => format!(" AND {} = scope.value", scope.router),
        };
        next += usize::from(routers != Routers::All);
        for filter in self.used(used) {
            let own = if engine == Engine::Sqlite { filter.sqlite } else { filter.postgres };
            let condition = filter.scoped.filter(|_| scope.table != self.table).unwrap_or(own);
            text.push_str(" AND ");
            text.push_str(&condition.replace("{}", &format!("${next}")));
            next += usize::from(condition.contains("{}"));
        }
        text
    }

    fn hint(&self, routers: Routers, used: usize) -> String {
        let together =
            self.together.iter().find(|together| together.are(self.used(used))).map(|one| one.index);
        let index = together.or_else(|| self.used(used).find_map(|filter| filter.index)).or(self.index);
        let name = index.map_or("", |index| match routers {
            Routers::All => index.of_all,
            Routers::One | Routers::Several => index.of_router,
        });
        if name.is_empty() { String::new() } else { format!(" INDEXED BY {name}") }
    }

    fn used(&self, used: usize) -> impl Iterator<Item = &'static Filter<F>> + Clone {
        self.filters.iter().enumerate().filter(move |(index, _)| used >> index & 1 == 1).map(|(_, one)| one)
    }
}

/// Of several routers the first of each are found on their own, so that it costs no more when one of them has a
/// million. SQLite knows no LATERAL, but gives a subquery to a function of a table.
fn found_of_several(engine: Engine, order: Order<'_>, is_joined: bool, matching: &str) -> String {
    let (_, limit) = order.place();
    let routers = behind_place(order.at);
    // A row of another table may be found for several routers.
    let distinct = if is_joined { "DISTINCT " } else { "" };
    let merged = Order { at: if order.at.is_empty() { "" } else { "moment" }, id: "id", ..order }.text();
    match (engine, order.at.is_empty()) {
        (Engine::Sqlite, true) => format!(
            "SELECT {distinct}found.value AS id FROM json_each(${routers}) AS scope,
                json_each((SELECT json_group_array(id) FROM ({matching}))) AS found
             ORDER BY {merged} LIMIT {limit}"
        ),
        (Engine::Sqlite, false) => format!(
            "SELECT id FROM (SELECT {distinct}found.value ->> 0 AS id, found.value ->> 1 AS moment
                FROM json_each(${routers}) AS scope,
                json_each((SELECT json_group_array(json_array(id, moment)) FROM ({matching}))) AS found)
             ORDER BY {merged} LIMIT {limit}"
        ),
        (Engine::Postgres, no_moment) => {
            let moment = if no_moment { "" } else { ", found.moment" };
            format!(
                "SELECT id FROM (SELECT {distinct}found.id{moment}
                    FROM jsonb_array_elements_text(${routers}) AS scope (value)
                    CROSS JOIN LATERAL ({matching}) AS found) AS found
                 ORDER BY {merged} LIMIT {limit}"
            )
        }
    }
}
