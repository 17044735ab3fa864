//! The texts that list the audit log: one for each set of filters, so that each walks the index that has the
//! newest records of what is asked for in front.

use std::sync::OnceLock;

use flowsdk_auth::audit::AuditStatus;

use super::statement::Sql;

/// What is asked for as to routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Routers {
    /// Nothing.
    All,
    /// Records of one.
    One,
    /// Records of a list.
    Several,
}

/// Which filters a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) routers: Routers,
    pub(super) actor: bool,
    pub(super) entity_type: bool,
    pub(super) action: bool,
    /// Failures are few, so their index leads; successes are nearly all.
    pub(super) status: Option<AuditStatus>,
}

const STATUSES: [Option<AuditStatus>; 3] = [None, Some(AuditStatus::Success), Some(AuditStatus::Failure)];

const SHAPES: usize = 3 * 3 * 8;

impl Shape {
    fn number(self) -> usize {
        let status = STATUSES.iter().position(|status| *status == self.status).unwrap_or_default();
        let bits = [self.actor, self.entity_type, self.action];
        bits.into_iter().fold(self.routers as usize * 3 + status, |number, bit| number * 2 + usize::from(bit))
    }

    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let routers = [Routers::All, Routers::One, Routers::Several];
        routers.into_iter().flat_map(|routers| STATUSES.map(|status| (routers, status))).flat_map(
            |(routers, status)| {
                (0..8).map(move |bits| Self {
                    routers,
                    actor: bits & 1 > 0,
                    entity_type: bits & 2 > 0,
                    action: bits & 4 > 0,
                    status,
                })
            },
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

/// The statement of every shape, with the same binds: id below, least id, from, to, routers, actor, entity
/// type, action, status, limit.
#[derive(Debug)]
pub(super) struct AuditListSql([OnceLock<Sql>; SHAPES]);

impl AuditListSql {
    pub(super) const fn new() -> Self {
        Self([const { OnceLock::new() }; SHAPES])
    }

    /// The statement of `shape`.
    pub(super) fn of(&self, shape: Shape) -> Sql {
        // Leaked once a shape, like the statements over rows.
        let leak = |engine| -> &'static str { Box::leak(text(shape, engine).into_boxed_str()) };
        *self.0[shape.number()]
            .get_or_init(|| Sql { sqlite: leak(Engine::Sqlite), postgres: leak(Engine::Postgres) })
    }

    /// The statement of every shape, so that a test can prepare them.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Sql> {
        Shape::all().map(|shape| self.of(shape)).collect()
    }
}

const COLUMNS: &str = "SELECT a.id, a.action, a.entity_type, a.entity_id, a.actor_id, a.router_id, a.status, a.changes, a.metadata,
        a.created_at, u.id, u.name, u.email
 FROM audit_log AS a LEFT JOIN user_account AS u ON u.id = a.actor_id
 WHERE a.id IN ";

const NEWEST: &str = " ORDER BY id DESC LIMIT $10";

/// Of several routers the newest records of each are found on their own, so that it costs no more when one of
/// them has a million. SQLite knows no LATERAL, but gives a subquery to a function of a table.
fn text(shape: Shape, engine: Engine) -> String {
    let (table, created_at) = match engine {
        // Without statistics SQLite would take any index.
        Engine::Sqlite => (format!("audit_log{}", index(shape)), "+created_at"),
        Engine::Postgres => ("audit_log".to_owned(), "created_at"),
    };
    let matching = format!(
        "SELECT id FROM {table} WHERE {} AND id < $1 AND id >= $2 AND {created_at} >= $3 AND {created_at} <= $4{NEWEST}",
        filters(shape, engine)
    );
    let found = match (shape.routers, engine) {
        (Routers::All | Routers::One, _) => matching,
        (Routers::Several, Engine::Sqlite) => format!(
            "SELECT found.value AS id FROM json_each($5) AS scope,
                json_each((SELECT json_group_array(id) FROM ({matching}))) AS found{NEWEST}"
        ),
        (Routers::Several, Engine::Postgres) => format!(
            "SELECT found.id FROM jsonb_array_elements_text($5) AS scope (value)
                CROSS JOIN LATERAL ({matching}) AS found{NEWEST}"
        ),
    };
    format!("{COLUMNS}({found}) ORDER BY a.id DESC")
}

fn filters(shape: Shape, engine: Engine) -> String {
    let router = match (shape.routers, engine) {
        (Routers::All, _) => None,
        (Routers::One, Engine::Sqlite) => Some("$5 ->> 0"),
        (Routers::One, Engine::Postgres) => Some("($5::jsonb ->> 0)"),
        (Routers::Several, _) => Some("scope.value"),
    };
    [
        ("router_id", "$5", router),
        ("actor_id", "$6", shape.actor.then_some("$6")),
        ("entity_type", "$7", shape.entity_type.then_some("$7")),
        ("action", "$8", shape.action.then_some("$8")),
        ("status", "$9", shape.status.map(|_| "$9")),
    ]
    .map(|(column, bind, value)| match value {
        Some(value) => format!("{column} = {value}"),
        // Every text has every bind.
        None => format!("CAST({bind} AS TEXT) IS NULL"),
    })
    .join(" AND ")
}

/// The index of the filter that leaves least, behind the router where there is one.
fn index(shape: Shape) -> String {
    let of_router = shape.routers != Routers::All;
    let column = [
        ("actor", shape.actor),
        ("status", shape.status == Some(AuditStatus::Failure)),
        ("entity_type", shape.entity_type),
        ("action", shape.action),
        ("status", shape.status.is_some()),
    ]
    .into_iter()
    .find_map(|(column, asked_for)| asked_for.then_some(column));
    match (of_router, column) {
        // The primary key, which has no name to call it by.
        (false, None) => String::new(),
        (false, Some(column)) => format!(" INDEXED BY audit_log_by_{column}"),
        (true, None) => " INDEXED BY audit_log_by_router".to_owned(),
        (true, Some(column)) => format!(" INDEXED BY audit_log_by_router_and_{column}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_shape_has_a_place_of_its_own() {
        let numbers: BTreeSet<_> = Shape::all().map(Shape::number).collect();
        assert_eq!(numbers, (0..SHAPES).collect());
    }
}
