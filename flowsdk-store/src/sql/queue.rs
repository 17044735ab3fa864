//! Queues and their agents.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::agent::{DeskAgent, DeskAgentId};
use flowsdk_helpdesk::queue::{HasQueues, Queue, QueueRepository};

use super::SqlTx;
use super::desk_agent::SERVES;
use super::record::{Record as _, record};
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql, sql_list, sql_per};

record! {
    Queue in "queue" {
        id, router_id, created_at;
        name, distribution_strategy, max_concurrent_tickets_per_agent, abandon_after_minutes, reassign_after_minutes,
        accept_within_seconds,        business_hours: json, deflect_when: json, max_waiting, waiting_notice: json_or_null, service_level: json_or_null, survey: json_or_null,
        is_active,
        updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<Queue>(&[]);

/// Whoever deletes a queue waits for those who put tickets into it.
const ACTIVE_OF: Sql = sql_per(
    concat!(
        Queue::SELECT,
        " WHERE router_id IN (SELECT value FROM json_each($1)) AND is_active = 1 ORDER BY created_at, id"
    ),
    concat!(
        Queue::SELECT,
        " WHERE router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($1))) AND is_active = 1
         ORDER BY created_at, id FOR KEY SHARE"
    ),
);

const FIND_MANY: Sql = sql_list!(concat!(Queue::SELECT, " WHERE id "), "$1", "");

/// Whoever puts tickets into a queue does not wait for those who give its tickets out.
const LOCK_TO_DISTRIBUTE: Sql = sql_per(
    concat!(TO_DISTRIBUTE, "IN (SELECT value FROM json_each($1)) ORDER BY id"),
    concat!(
        TO_DISTRIBUTE,
        "= ANY(ARRAY(SELECT jsonb_array_elements_text($1))) ORDER BY id FOR NO KEY UPDATE"
    ),
);
const TO_DISTRIBUTE: &str = concat!(Queue::SELECT, " WHERE distribution_strategy <> 'manual_pickup' AND id ");

const AGENTS: Sql = sql(concat!(
    DeskAgent::SELECT,
    " WHERE id IN (SELECT agent_id FROM queue_agent WHERE queue_id = $1) ORDER BY id"
));

const ADD_AGENT: Sql =
    sql("INSERT INTO queue_agent (queue_id, agent_id) VALUES ($1, $2) ON CONFLICT DO NOTHING");

const REMOVE_AGENT: Sql = sql("DELETE FROM queue_agent WHERE queue_id = $1 AND agent_id = $2");

const LAST_GIVEN: Sql =
    sql_list!("SELECT id, last_user_id FROM queue WHERE last_user_id IS NOT NULL AND id ", "$1", "");

/// `$1` lists `[queue, user]`.
const NOTE_GIVEN: Sql = sql_per(
    "UPDATE queue SET last_user_id = given.value ->> 1 FROM json_each($1) AS given WHERE queue.id = given.value ->> 0",
    "UPDATE queue SET last_user_id = given.value ->> 1 FROM jsonb_array_elements($1) AS given (value)
     WHERE queue.id = given.value ->> 0",
);

/// `$2` lists routers; NULL is all.
const OF_USER: Sql = sql_per(
    concat!(
        Queue::SELECT,
        " WHERE id IN (SELECT queue_agent.queue_id FROM agent JOIN queue_agent ON queue_agent.agent_id = agent.id
            WHERE agent.user_id = $1 AND ($2 IS NULL OR agent.router_id IN (SELECT value FROM json_each($2))))
         ORDER BY id"
    ),
    concat!(
        Queue::SELECT,
        " WHERE id IN (SELECT queue_agent.queue_id FROM agent JOIN queue_agent ON queue_agent.agent_id = agent.id
            WHERE agent.user_id = $1
            AND ($2::jsonb IS NULL OR agent.router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($2)))))
         ORDER BY id"
    ),
);

const OF_USERS: Sql = sql_list!(
    "SELECT agent.user_id, agent.router_id, queue_agent.queue_id
     FROM agent JOIN queue_agent ON queue_agent.agent_id = agent.id WHERE agent.user_id ",
    "$1",
    " ORDER BY queue_agent.queue_id, agent.user_id"
);

const PRESENT_IN: Sql = sql_per(
    concat!(
        PRESENT,
        "queue_agent.queue_id IN (SELECT value FROM json_each($1)) AND ",
        SERVES.0,
        " GROUP BY queue_agent.queue_id"
    ),
    concat!(
        PRESENT,
        "queue_agent.queue_id = ANY(ARRAY(SELECT jsonb_array_elements_text($1))) AND ",
        SERVES.1,
        " GROUP BY queue_agent.queue_id"
    ),
);
const PRESENT: &str =
    "SELECT queue_agent.queue_id, COUNT(*) FROM queue_agent JOIN agent ON agent.id = queue_agent.agent_id
        JOIN desk_presence ON desk_presence.user_id = agent.user_id
        JOIN user_account ON user_account.id = agent.user_id
        LEFT JOIN user_group ON user_group.id = user_account.group_id
     WHERE desk_presence.status IN ('online', 'busy') AND desk_presence.until > $2 AND ";

super::statement::statements! {
    ACTIVE_OF, FIND_MANY, LOCK_TO_DISTRIBUTE, AGENTS, ADD_AGENT, REMOVE_AGENT, LAST_GIVEN, NOTE_GIVEN, OF_USER, OF_USERS, PRESENT_IN; TABLE
}

impl RouterTable for Queue {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasQueues::queues -> QueueRepository);

#[async_trait]
impl QueueRepository for SqlTx {
    async fn active_of(&mut self, routers: &[RouterId]) -> Result<Vec<Queue>, StorageError> {
        self.conn.fetch_all(ACTIVE_OF, (Json(routers),)).await
    }

    async fn find_many(&mut self, ids: &[QueueId]) -> Result<Vec<Queue>, StorageError> {
        self.conn.fetch_all(FIND_MANY, (Json(ids),)).await
    }

    async fn lock_to_distribute(&mut self, ids: &[QueueId]) -> Result<Vec<Queue>, StorageError> {
        self.conn.fetch_all(LOCK_TO_DISTRIBUTE, (Json(ids),)).await
    }

    async fn agents(&mut self, queue: &QueueId) -> Result<Vec<DeskAgent>, StorageError> {
        self.conn.fetch_all(AGENTS, (queue,)).await
    }

    async fn add_agent(&mut self, queue: &QueueId, agent: &DeskAgentId) -> Result<(), StorageError> {
        self.conn.execute(ADD_AGENT, (queue, agent)).await.map(drop)
    }

    async fn remove_agent(&mut self, queue: &QueueId, agent: &DeskAgentId) -> Result<bool, StorageError> {
        Ok(self.conn.execute(REMOVE_AGENT, (queue, agent)).await? > 0)
    }

    async fn last_given(&mut self, queues: &[QueueId]) -> Result<Vec<(QueueId, UserId)>, StorageError> {
        self.conn.fetch_all(LAST_GIVEN, (Json(queues),)).await
    }

    async fn note_given(&mut self, given: &[(QueueId, UserId)]) -> Result<(), StorageError> {
        self.conn.execute(NOTE_GIVEN, (Json(given),)).await.map(drop)
    }

    async fn present_in(
        &mut self,
        queues: &[QueueId],
        now: Timestamp,
    ) -> Result<Vec<(QueueId, i64)>, StorageError> {
        self.conn.fetch_all(PRESENT_IN, (Json(queues), now)).await
    }

    async fn of_users(&mut self, users: &[UserId]) -> Result<Vec<(UserId, RouterId, QueueId)>, StorageError> {
        self.conn.fetch_all(OF_USERS, (Json(users),)).await
    }

    async fn of_user(
        &mut self,
        user: &UserId,
        only: Option<&[RouterId]>,
    ) -> Result<Vec<Queue>, StorageError> {
        self.conn.fetch_all(OF_USER, (user, only.map(Json))).await
    }
}
