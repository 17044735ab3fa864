//! Flows, as they are administered.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{
    AiAgentAround, Flow, FlowCatalog, FlowDraft, FlowFilter, FlowVersion, FlowVersionHead, HasFlowCatalog,
    LastNumbers, ListedFlow, WholeFlow,
};
use flowsdk_core::id::{AgentId, FlowId, QueueId, RouterId, UserId};
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::session::Channel;
use serde_json::Value;

use super::SqlTx;
use super::list::{self, Filter, ListSql, asked, given};
use super::record::{All, Changes, Part, Record as _, record};
use super::row::{Cells, Row, With};
use super::statement::{Sql, sql, sql_list, sql_locking, sql_per};

/// A flow with the revision of its draft and the number of its published version.
const LISTED: &str = concat!(
    "SELECT ",
    Flow::COLUMNS,
    ", COALESCE((SELECT revision FROM flow_draft WHERE flow_draft.flow_id = flow.id), 0),
        (SELECT number FROM flow_version WHERE flow_version.id = flow.published_version_id) FROM flow"
);

pub(super) static LIST: ListSql<FlowFilter> = ListSql::new(LISTED, "flow")
    .within("router_id")
    .filters(&[Filter::of("kind = {}", |filter| asked(&filter.kind))]);

const FIND: Sql = sql(concat!(LISTED, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(Flow::SELECT, " WHERE id = $1"));

const SAVE: Sql = sql(Flow::UPDATE);

/// Foreign keys take drafts, versions and variables along, and the flow from who begins with it.
const DELETE: Sql = sql("DELETE FROM flow WHERE id = $1");

const DRAFT: Sql =
    sql("SELECT revision, definition, definition_text, updated_at FROM flow_draft WHERE flow_id = $1");

impl Row for FlowDraft {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        const TABLE: &str = "flow_draft";
        Ok(Self {
            revision: cells.of(TABLE, "revision")?,
            definition: Part::read(cells, TABLE)?,
            updated_at: cells.of(TABLE, "updated_at")?,
        })
    }
}

const PUT_DRAFT: Sql =
    sql("INSERT INTO flow_draft (flow_id, revision, definition, definition_text, updated_at)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (flow_id) DO UPDATE SET revision = excluded.revision, definition = excluded.definition,
        definition_text = excluded.definition_text, updated_at = excluded.updated_at");

const INSERT_VERSION: Sql = sql(FlowVersion::INSERT);

const LAST_NUMBERS: Sql =
    sql("SELECT COALESCE(MAX(number), 0), COALESCE(MIN(number), 1) FROM flow_version WHERE flow_id = $1");

record! {
    FlowVersionHead in "flow_version" { id, number, flow_name, created_at }
}

pub(super) static VERSIONS: ListSql<FlowId> =
    ListSql::of::<FlowVersionHead>().filters(&[Filter::of("flow_id = {} AND number > 0", given).always()]);

const FIND_VERSION: Sql = sql(concat!(FlowVersion::SELECT, " WHERE flow_id = $1 AND number = $2"));

/// A session names the versions that it stands in or comes back to by their ids; each engine searches its state in
/// its own way. Ids of sessions begin with their channel, as in `live_session.rs`.
const PURGE_TEST_VERSIONS: Sql = sql_per(
    "DELETE FROM flow_version WHERE flow_id = $1 AND number <= 0 AND number > $2 AND NOT EXISTS (
        SELECT 1 FROM webchat_channel JOIN session ON session.id >= 'wc-' || webchat_channel.id || '-'
            AND session.id < 'wc-' || webchat_channel.id || '.'
        WHERE webchat_channel.router_id = flow_version.router_id AND webchat_channel.is_test_channel > 0
            AND instr(session.state, '\"' || flow_version.id || '\"') > 0)",
    "DELETE FROM flow_version WHERE flow_id = $1 AND number <= 0 AND number > $2 AND NOT EXISTS (
        SELECT 1 FROM webchat_channel JOIN session ON session.id >= 'wc-' || webchat_channel.id || '-'
            AND session.id < 'wc-' || webchat_channel.id || '.'
        WHERE webchat_channel.router_id = flow_version.router_id AND webchat_channel.is_test_channel > 0
            AND strpos(session.state::text, '\"' || flow_version.id || '\"') > 0)",
);

const CHANNELS_AROUND: Sql =
    sql("SELECT 'phone' WHERE EXISTS (SELECT 1 FROM channel_number WHERE router_id = $1)
     UNION ALL SELECT 'webchat' WHERE EXISTS (SELECT 1 FROM webchat_channel WHERE router_id = $1)");

const QUEUES_AROUND: Sql = sql("SELECT id FROM queue WHERE router_id = $1 AND is_active = 1 ORDER BY id");

const AGENTS_AROUND: Sql =
    sql_list!("SELECT user_id FROM agent WHERE router_id = $2 AND user_id ", "$1", " ORDER BY user_id");

/// Whether it takes conversations, has an active system prompt, and has a credential or one of its router.
const AI_AGENTS_AROUND: Sql = sql_list!(
    "SELECT id, is_active = 1 AND agent_type <> 'system',
        EXISTS (SELECT 1 FROM system_prompt p WHERE p.agent_id = ai_agent.id AND p.is_active = 1),
        llm_credential_id IS NOT NULL OR EXISTS (SELECT 1 FROM router r
            WHERE r.id = ai_agent.router_id AND r.llm_credential_id IS NOT NULL)
     FROM ai_agent WHERE router_id = $2 AND id ",
    "$1",
    " ORDER BY id"
);

const WHOLE: Sql = sql(concat!(
    "SELECT ",
    Flow::COLUMNS,
    ", (SELECT definition FROM flow_draft WHERE flow_draft.flow_id = flow.id),
        (SELECT definition FROM flow_version WHERE flow_version.id = flow.published_version_id)
     FROM flow WHERE router_id = $1 AND (id = $2 OR $2 IS NULL) ORDER BY created_at, id"
));

super::statement::statements! {
    FIND, FIND_FOR_UPDATE, SAVE, DELETE, DRAFT, PUT_DRAFT, INSERT_VERSION, LAST_NUMBERS, FIND_VERSION,
    PURGE_TEST_VERSIONS, CHANNELS_AROUND, QUEUES_AROUND, AGENTS_AROUND, AI_AGENTS_AROUND, WHOLE;
    LIST, VERSIONS
}

type Listed = With<Flow, (i64, Option<i64>)>;

fn listed(With(flow, (revision, published_number)): Listed) -> ListedFlow {
    ListedFlow { flow, revision, published_number }
}

super::accessor::has!(HasFlowCatalog::flow_catalog -> FlowCatalog);

#[async_trait]
impl FlowCatalog for SqlTx {
    async fn list(
        &mut self,
        filter: &FlowFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ListedFlow>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let place = |With(flow, _): &Listed| Cursor::of(flow.created_at, &flow.id);
        Ok(self.conn.page(&LIST, filter, routers, page, place).await?.map(listed))
    }

    async fn find(&mut self, id: &FlowId) -> Result<Option<ListedFlow>, StorageError> {
        Ok(self.conn.fetch_optional(FIND, (id,)).await?.map(listed))
    }

    async fn find_for_update(&mut self, id: &FlowId) -> Result<Option<Flow>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn save(&mut self, flow: &Flow) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(flow)).await.map(drop)
    }

    async fn delete(&mut self, id: &FlowId) -> Result<(), StorageError> {
        self.conn.execute(DELETE, (id,)).await.map(drop)
    }

    async fn draft(&mut self, id: &FlowId) -> Result<Option<FlowDraft>, StorageError> {
        self.conn.fetch_optional(DRAFT, (id,)).await
    }

    async fn put_draft(&mut self, id: &FlowId, draft: &FlowDraft) -> Result<(), StorageError> {
        let FlowDraft { revision, definition, updated_at } = draft;
        let (value, text) = (Json(&**definition), definition.text());
        self.conn.execute(PUT_DRAFT, (id, revision, value, text, updated_at)).await.map(drop)
    }

    async fn insert_version(&mut self, version: &FlowVersion) -> Result<(), StorageError> {
        self.conn.execute(INSERT_VERSION, All(version)).await.map(drop)
    }

    async fn last_numbers(&mut self, id: &FlowId) -> Result<LastNumbers, StorageError> {
        let row = self.conn.fetch_optional::<(i64, i64)>(LAST_NUMBERS, (id,)).await?;
        let (last, least) = row.unwrap_or((0, 1));
        // With test versions only, the greatest is one of them; with published ones only, the least.
        Ok(LastNumbers { published: last.max(0), test: least.min(0) })
    }

    async fn versions(
        &mut self,
        flow: &FlowId,
        page: &PageRequest,
    ) -> Result<Page<FlowVersionHead>, StorageError> {
        let place = |head: &FlowVersionHead| Cursor::of(head.created_at, &head.id);
        self.conn.page(&VERSIONS, flow, None, page, place).await
    }

    async fn find_version(&mut self, id: &FlowId, number: i64) -> Result<Option<FlowVersion>, StorageError> {
        self.conn.fetch_optional(FIND_VERSION, (id, number)).await
    }

    async fn purge_test_versions(&mut self, flow: &FlowId, after: i64) -> Result<(), StorageError> {
        self.conn.execute(PURGE_TEST_VERSIONS, (flow, after)).await.map(drop)
    }

    async fn channels_around(&mut self, router: &RouterId) -> Result<Vec<Channel>, StorageError> {
        self.conn.fetch_column(CHANNELS_AROUND, (router,)).await
    }

    async fn queues_around(&mut self, router: &RouterId) -> Result<Vec<QueueId>, StorageError> {
        self.conn.fetch_column(QUEUES_AROUND, (router,)).await
    }

    async fn agents_around(
        &mut self,
        router: &RouterId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StorageError> {
        self.conn.fetch_column(AGENTS_AROUND, (Json(users), router)).await
    }

    async fn ai_agents_around(
        &mut self,
        router: &RouterId,
        agents: &[AgentId],
    ) -> Result<Vec<AiAgentAround>, StorageError> {
        let rows: Vec<(AgentId, bool, bool, bool)> =
            self.conn.fetch_all(AI_AGENTS_AROUND, (Json(agents), router)).await?;
        let around = |(id, is_in_service, has_system_prompt, has_credential)| AiAgentAround {
            id,
            is_in_service,
            has_system_prompt,
            has_credential,
        };
        Ok(rows.into_iter().map(around).collect())
    }

    async fn whole(
        &mut self,
        router: &RouterId,
        only: Option<&FlowId>,
    ) -> Result<Vec<WholeFlow>, StorageError> {
        type Whole = With<Flow, (Option<Json<Value>>, Option<Json<Value>>)>;
        let rows = self.conn.fetch_all::<Whole>(WHOLE, (router, only)).await?;
        let whole = |With(flow, (draft, published)): Whole| WholeFlow {
            flow,
            draft: draft.map(|Json(value)| value),
            published: published.map(|Json(value)| value),
        };
        Ok(rows.into_iter().map(whole).collect())
    }
}
