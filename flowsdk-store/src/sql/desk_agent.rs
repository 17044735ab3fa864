//! Agents of the helpdesk, and who of them is there.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::agent::{DeskAgent, HasPresence, Person, PresenceRepository, PresenceStatus};

use super::SqlTx;
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql, sql_list, sql_per};

record! {
    DeskAgent in "agent" {
        id, router_id, user_id, created_at;
        group_id, can_active_dispatch, login_schedule: json_unless_empty, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<DeskAgent>(&[]);

const PUT: Sql = sql("INSERT INTO desk_presence (user_id, status, until) VALUES ($1, $2, $3)
     ON CONFLICT (user_id) DO UPDATE SET status = excluded.status, until = excluded.until");

const RENEW: Sql =
    sql("UPDATE desk_presence SET until = $3 WHERE user_id = $1 AND until > $2 RETURNING status");

const PEOPLE: Sql = sql_list!(
    "SELECT user_account.id, user_account.name, desk_presence.status
     FROM user_account LEFT JOIN desk_presence
        ON desk_presence.user_id = user_account.id AND desk_presence.until > $2
     WHERE user_account.id ",
    "$1",
    ""
);

const IS_CONFINED_TO: Sql = sql_per(
    "SELECT user_account.id FROM user_account JOIN user_group ON user_group.id = user_account.group_id
     WHERE user_account.id = $1 AND user_account.user_role <> 'admin'
        AND EXISTS (SELECT 1 FROM json_each(user_group.router_ids) WHERE value = $2)",
    "SELECT user_account.id FROM user_account JOIN user_group ON user_group.id = user_account.group_id
     WHERE user_account.id = $1 AND user_account.user_role <> 'admin'
        AND EXISTS (SELECT 1 FROM jsonb_array_elements_text(user_group.router_ids) AS router (id) WHERE router.id = $2)",
);

/// Whether an agent has lost their router: their group is confined to others. On SQLite and on Postgres.
pub(super) const HAS_LOST_ROUTER: (&str, &str) = (
    "EXISTS (SELECT 1 FROM user_account JOIN user_group ON user_group.id = user_account.group_id
        WHERE user_account.id = agent.user_id AND user_account.user_role <> 'admin'
        AND json_array_length(user_group.router_ids) > 0
        AND NOT EXISTS (SELECT 1 FROM json_each(user_group.router_ids) WHERE value = agent.router_id))",
    "EXISTS (SELECT 1 FROM user_account JOIN user_group ON user_group.id = user_account.group_id
        WHERE user_account.id = agent.user_id AND user_account.user_role <> 'admin'
        AND jsonb_array_length(user_group.router_ids) > 0
        AND NOT EXISTS (SELECT 1 FROM jsonb_array_elements_text(user_group.router_ids) AS router (id)
            WHERE router.id = agent.router_id))",
);

/// Whether an agent, of `user_account` and `user_group`, serves the contacts of their router: they are an administrator, or
/// their group has the router and may write in the helpdesk. On SQLite and on Postgres.
pub(super) const SERVES: (&str, &str) = (
    "(user_account.user_role = 'admin' OR (
        (json_array_length(user_group.router_ids) = 0
            OR EXISTS (SELECT 1 FROM json_each(user_group.router_ids) WHERE value = agent.router_id))
        AND EXISTS (SELECT 1 FROM json_each(user_group.permissions) AS permission,
                json_each(permission.value -> 'actions') AS action
            WHERE permission.value ->> 'resource' = 'helpdesk' AND action.value = 'write')))",
    r#"(user_account.user_role = 'admin' OR (
        (jsonb_array_length(user_group.router_ids) = 0 OR user_group.router_ids @> to_jsonb(agent.router_id))
        AND user_group.permissions @> '[{"resource": "helpdesk", "actions": ["write"]}]'))"#,
);

pub(super) const LOCK_ONLINE_AGENTS: Sql = sql_per(
    concat!(ONLINE_AGENTS, "IN (SELECT value FROM json_each($1)) AND ", SERVES.0, " ORDER BY agent.id"),
    concat!(
        ONLINE_AGENTS,
        "= ANY(ARRAY(SELECT jsonb_array_elements_text($1))) AND ",
        SERVES.1,
        " ORDER BY agent.id FOR UPDATE OF agent"
    ),
);
const ONLINE_AGENTS: &str =
    "SELECT queue_agent.queue_id, agent.user_id FROM queue_agent JOIN agent ON agent.id = queue_agent.agent_id
    JOIN desk_presence ON desk_presence.user_id = agent.user_id
    JOIN user_account ON user_account.id = agent.user_id
    LEFT JOIN user_group ON user_group.id = user_account.group_id
    WHERE desk_presence.status = 'online' AND desk_presence.until > $2 AND queue_agent.queue_id ";

/// `$2` lists routers; NULL is all.
pub(super) const LOCK_AGENT: Sql = sql_per(
    concat!(
        "SELECT agent.router_id FROM agent WHERE agent.user_id = $1
            AND ($2 IS NULL OR agent.router_id IN (SELECT value FROM json_each($2))) AND NOT ",
        HAS_LOST_ROUTER.0,
        " ORDER BY agent.id"
    ),
    concat!(
        "SELECT agent.router_id FROM agent WHERE agent.user_id = $1
            AND ($2::jsonb IS NULL OR agent.router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($2)))) AND NOT ",
        HAS_LOST_ROUTER.1,
        " ORDER BY agent.id FOR UPDATE OF agent"
    ),
);

/// `$1` lists `[router, user]`.
pub(super) const LOCK_AGENTS: Sql = sql_per(
    concat!(
        "SELECT agent.router_id, agent.user_id FROM json_each($1) AS asked",
        AGENTS_ASKED,
        HAS_LOST_ROUTER.0,
        " ORDER BY agent.id"
    ),
    concat!(
        "SELECT agent.router_id, agent.user_id FROM jsonb_array_elements($1) AS asked (value)",
        AGENTS_ASKED,
        HAS_LOST_ROUTER.1,
        " ORDER BY agent.id FOR UPDATE OF agent"
    ),
);
const AGENTS_ASKED: &str =
    " JOIN agent ON agent.router_id = asked.value ->> 0 AND agent.user_id = asked.value ->> 1 WHERE NOT ";

super::statement::statements! { IS_CONFINED_TO, LOCK_ONLINE_AGENTS, LOCK_AGENT, LOCK_AGENTS, PUT, RENEW, PEOPLE; TABLE }

impl RouterTable for DeskAgent {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasPresence::presence -> PresenceRepository);

#[async_trait]
impl PresenceRepository for SqlTx {
    async fn set(
        &mut self,
        user: &UserId,
        status: PresenceStatus,
        until: Timestamp,
    ) -> Result<(), StorageError> {
        self.conn.execute(PUT, (user, &status, until)).await.map(drop)
    }

    async fn renew(
        &mut self,
        user: &UserId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<PresenceStatus>, StorageError> {
        let renewed: Vec<PresenceStatus> = self.conn.fetch_column(RENEW, (user, now, until)).await?;
        Ok(renewed.into_iter().next())
    }

    async fn is_confined_to(&mut self, user: &UserId, router: &RouterId) -> Result<bool, StorageError> {
        let found: Vec<UserId> = self.conn.fetch_column(IS_CONFINED_TO, (user, router)).await?;
        Ok(!found.is_empty())
    }

    async fn people(&mut self, users: &[UserId], now: Timestamp) -> Result<Vec<Person>, StorageError> {
        if users.is_empty() {
            return Ok(Vec::new());
        }
        type Row = (UserId, String, Option<PresenceStatus>);
        let rows: Vec<Row> = self.conn.fetch_all(PEOPLE, (Json(users), now)).await?;
        let person = |(user_id, name, status): Row| Person {
            user_id,
            name,
            presence: status.unwrap_or(PresenceStatus::Offline),
        };
        Ok(rows.into_iter().map(person).collect())
    }
}
