//! Flows, as they are administered.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{
    Flow, FlowCatalog, FlowDraft, FlowFilter, FlowKind, FlowReferences, FlowVersion, FlowVersionHead,
    LastNumbers, ListedFlow, WholeFlow,
};
use flowsdk_core::id::{FlowId, RouterId};
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::executor::{execute, fetch_all, fetch_optional, id, json, text};
use super::flow::{FlowRow, flow, version};
use super::statement::{Sql, sql, sql_list, sql_locking, sql_per};
use super::{SqlTx, page};

macro_rules! listed {
    ($rest:literal) => {
        concat!(
            "SELECT flow.id, flow.router_id, flow.name, flow.kind, flow.published_version_id,
                flow.test_version_id, flow.created_at, flow.updated_at, COALESCE(flow_draft.revision, 0),
                flow_version.number
             FROM flow LEFT JOIN flow_draft ON flow_draft.flow_id = flow.id
             LEFT JOIN flow_version ON flow_version.id = flow.published_version_id WHERE ",
            $rest
        )
    };
}

/// A filter that is null restricts nothing.
const LIST: Sql = sql(listed!(
    "(flow.router_id = $4 OR $4 IS NULL) AND (flow.kind = $5 OR $5 IS NULL)
     AND (flow.created_at, flow.id) < ($1, $2) ORDER BY flow.created_at DESC, flow.id DESC LIMIT $3"
));

const LIST_AMONG: Sql = sql_list!(
    listed!("flow.router_id IN "),
    "$6",
    " AND (flow.router_id = $4 OR $4 IS NULL) AND (flow.kind = $5 OR $5 IS NULL)
     AND (flow.created_at, flow.id) < ($1, $2) ORDER BY flow.created_at DESC, flow.id DESC LIMIT $3"
);

const FIND: Sql = sql(listed!("flow.id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(
    "SELECT id, router_id, name, kind, published_version_id, test_version_id, created_at, updated_at
     FROM flow WHERE id = $1"
);

const SAVE: Sql = sql("UPDATE flow SET name = $2, published_version_id = $3, test_version_id = $4,
        updated_at = $5 WHERE id = $1");

/// Foreign keys take drafts, versions and variables along, and the flow from who begins with it.
const DELETE: Sql = sql("DELETE FROM flow WHERE id = $1");

const DRAFT: Sql = sql("SELECT revision, definition, updated_at FROM flow_draft WHERE flow_id = $1");

const PUT_DRAFT: Sql =
    sql("INSERT INTO flow_draft (flow_id, revision, definition, updated_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (flow_id) DO UPDATE SET revision = excluded.revision, definition = excluded.definition,
        updated_at = excluded.updated_at");

const INSERT_VERSION: Sql =
    sql("INSERT INTO flow_version (id, flow_id, router_id, flow_name, number, definition, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)");

const LAST_NUMBERS: Sql =
    sql("SELECT COALESCE(MAX(number), 0), COALESCE(MIN(number), 1) FROM flow_version WHERE flow_id = $1");

const VERSIONS: Sql = sql("SELECT id, number, flow_name, created_at FROM flow_version
     WHERE flow_id = $4 AND number > 0 AND (created_at, id) < ($1, $2)
     ORDER BY created_at DESC, id DESC LIMIT $3");

const FIND_VERSION: Sql =
    sql("SELECT id, flow_id, router_id, flow_name, number, definition, created_at FROM flow_version
     WHERE flow_id = $1 AND number = $2");

/// A session names the versions that it stands in or comes back to by their ids; each engine searches its state in
/// its own way. Ids of sessions begin with their channel, as in `live_session.rs`.
const PURGE_TEST_VERSIONS: Sql = sql_per(
    "DELETE FROM flow_version WHERE flow_id = $1 AND number <= 0 AND number > $2 AND NOT EXISTS (
        SELECT 1 FROM webchat_channel JOIN session ON session.id >= 'wc-' || webchat_channel.id || '-'
            AND session.id < 'wc-' || webchat_channel.id || '.'
        WHERE webchat_channel.router_id = flow_version.router_id AND webchat_channel.is_test_channel = 1
            AND instr(session.state, '\"' || flow_version.id || '\"') > 0)",
    "DELETE FROM flow_version WHERE flow_id = $1 AND number <= 0 AND number > $2 AND NOT EXISTS (
        SELECT 1 FROM webchat_channel JOIN session ON session.id >= 'wc-' || webchat_channel.id || '-'
            AND session.id < 'wc-' || webchat_channel.id || '.'
        WHERE webchat_channel.router_id = flow_version.router_id AND webchat_channel.is_test_channel = 1
            AND strpos(session.state::text, '\"' || flow_version.id || '\"') > 0)",
);

const IS_INITIAL: Sql = sql("SELECT COUNT(*) FROM router WHERE id = $1 AND initial_flow_id = $2");

const CHANNELS: Sql = sql("SELECT id FROM webchat_channel WHERE router_id = $1 AND initial_flow_id = $2
     ORDER BY created_at, id LIMIT 100");

/// Published versions in which the id stands as a text: each engine searches in its own way.
const FLOWS_NAMING: Sql = sql_per(
    "SELECT flow.id FROM flow JOIN flow_version ON flow_version.id = flow.published_version_id
     WHERE flow.router_id = $1 AND flow.id <> $2 AND instr(flow_version.definition, $3) > 0
     ORDER BY flow.created_at, flow.id LIMIT 100",
    "SELECT flow.id FROM flow JOIN flow_version ON flow_version.id = flow.published_version_id
     WHERE flow.router_id = $1 AND flow.id <> $2 AND strpos(flow_version.definition::text, $3) > 0
     ORDER BY flow.created_at, flow.id LIMIT 100",
);

const WHOLE: Sql = sql("SELECT flow.id, flow.router_id, flow.name, flow.kind, flow.published_version_id,
        flow.test_version_id, flow.created_at, flow.updated_at, flow_draft.definition, flow_version.definition
     FROM flow LEFT JOIN flow_draft ON flow_draft.flow_id = flow.id
     LEFT JOIN flow_version ON flow_version.id = flow.published_version_id
     WHERE flow.router_id = $1 AND (flow.id = $2 OR $2 IS NULL) ORDER BY flow.created_at, flow.id");

super::statement::statements! { LIST, LIST_AMONG, FIND, FIND_FOR_UPDATE, SAVE, DELETE, DRAFT, PUT_DRAFT, INSERT_VERSION, LAST_NUMBERS, VERSIONS, FIND_VERSION, PURGE_TEST_VERSIONS, IS_INITIAL, CHANNELS, FLOWS_NAMING, WHOLE }

type ListedRow = (String, String, String, String, Option<String>, Option<String>, i64, i64, i64, Option<i64>);

fn listed(row: ListedRow) -> Result<ListedFlow, StorageError> {
    let (id, router, name, kind, published, test, created, updated, revision, published_number) = row;
    let flow = flow((id, router, name, kind, published, test, created, updated))?;
    Ok(ListedFlow { flow, revision, published_number })
}

#[async_trait]
impl FlowCatalog for SqlTx {
    async fn list(
        &mut self,
        filter: &FlowFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ListedFlow>, StorageError> {
        let ((at, before), limit) = (page::before(page), page::rows(page));
        let router = filter.router_id.as_ref().map(RouterId::as_str);
        let kind = filter.kind.map(FlowKind::name);
        let rows = match only {
            None => fetch_all!(self.conn, ListedRow, LIST, at, before, limit, router, kind)?,
            Some(only) => {
                fetch_all!(self.conn, ListedRow, LIST_AMONG, at, before, limit, router, kind, Json(only))?
            }
        };
        page::of(rows, page, listed, |one| (one.flow.created_at, one.flow.id.to_string()))
    }

    async fn find(&mut self, id: &FlowId) -> Result<Option<ListedFlow>, StorageError> {
        fetch_optional!(self.conn, ListedRow, FIND, id.as_str())?.map(listed).transpose()
    }

    async fn find_for_update(&mut self, id: &FlowId) -> Result<Option<Flow>, StorageError> {
        fetch_optional!(self.conn, FlowRow, FIND_FOR_UPDATE, id.as_str())?.map(flow).transpose()
    }

    async fn save(&mut self, flow: &Flow) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            flow.id.as_str(),
            text(&flow.name),
            flow.published_version_id.as_ref().map(|id| id.as_str()),
            flow.test_version_id.as_ref().map(|id| id.as_str()),
            flow.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, id: &FlowId) -> Result<(), StorageError> {
        execute!(self.conn, DELETE, id.as_str()).map(drop)
    }

    async fn draft(&mut self, id: &FlowId) -> Result<Option<FlowDraft>, StorageError> {
        let row = fetch_optional!(self.conn, (i64, Json<Value>, i64), DRAFT, id.as_str())?;
        Ok(row.map(|(revision, Json(definition), updated_at)| FlowDraft {
            revision,
            definition,
            updated_at: Timestamp::from_millis(updated_at),
        }))
    }

    async fn put_draft(&mut self, id: &FlowId, draft: &FlowDraft) -> Result<(), StorageError> {
        let definition = json(&draft.definition)?;
        let at = draft.updated_at.as_millis();
        execute!(self.conn, PUT_DRAFT, id.as_str(), draft.revision, definition, at).map(drop)
    }

    async fn insert_version(&mut self, version: &FlowVersion) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT_VERSION,
            version.id.as_str(),
            version.flow_id.as_str(),
            version.router_id.as_str(),
            text(&version.flow_name),
            version.number,
            json(&version.definition)?,
            version.created_at.as_millis(),
        )
        .map(drop)
    }

    async fn last_numbers(&mut self, id: &FlowId) -> Result<LastNumbers, StorageError> {
        let row = fetch_optional!(self.conn, (i64, i64), LAST_NUMBERS, id.as_str())?;
        let (last, least) = row.unwrap_or((0, 1));
        // With test versions only, the greatest is one of them; with published ones only, the least.
        Ok(LastNumbers { published: last.max(0), test: least.min(1) })
    }

    async fn versions(
        &mut self,
        flow: &FlowId,
        page: &PageRequest,
    ) -> Result<Page<FlowVersionHead>, StorageError> {
        type Row = (String, i64, String, i64);
        let (at, before) = page::before(page);
        let rows = fetch_all!(self.conn, Row, VERSIONS, at, before, page::rows(page), flow.as_str())?;
        let heads = rows.into_iter().map(|(version_id, number, flow_name, created_at)| {
            let created_at = Timestamp::from_millis(created_at);
            Ok(FlowVersionHead { id: id("flow_version", version_id)?, number, flow_name, created_at })
        });
        let heads = heads.collect::<Result<_, StorageError>>()?;
        let place = |head: &FlowVersionHead| Cursor { at: head.created_at, id: head.id.to_string() };
        Ok(Page::from_rows(heads, page.limit, place))
    }

    async fn find_version(&mut self, id: &FlowId, number: i64) -> Result<Option<FlowVersion>, StorageError> {
        let row = fetch_optional!(self.conn, super::flow::VersionRow, FIND_VERSION, id.as_str(), number)?;
        row.map(version).transpose()
    }

    async fn purge_test_versions(&mut self, flow: &FlowId, after: i64) -> Result<(), StorageError> {
        execute!(self.conn, PURGE_TEST_VERSIONS, flow.as_str(), after).map(drop)
    }

    async fn references(&mut self, flow: &Flow) -> Result<FlowReferences, StorageError> {
        let (router, flow_id) = (flow.router_id.as_str(), flow.id.as_str());
        let initial = fetch_optional!(self.conn, (i64,), IS_INITIAL, router, flow_id)?;
        let channels = fetch_all!(self.conn, (String,), CHANNELS, router, flow_id)?;
        let quoted = format!("\"{flow_id}\"");
        let flows = fetch_all!(self.conn, (String,), FLOWS_NAMING, router, flow_id, &quoted)?;
        let channels = channels.into_iter().map(|(channel,)| id("webchat_channel", channel));
        let flows = flows.into_iter().map(|(flow,)| id("flow", flow));
        Ok(FlowReferences {
            is_initial: initial.is_some_and(|(count,)| count > 0),
            channels: channels.collect::<Result<_, _>>()?,
            flows: flows.collect::<Result<_, _>>()?,
        })
    }

    async fn whole(
        &mut self,
        router: &RouterId,
        only: Option<&FlowId>,
    ) -> Result<Vec<WholeFlow>, StorageError> {
        type Row = (
            String,
            String,
            String,
            String,
            Option<String>,
            Option<String>,
            i64,
            i64,
            Option<Json<Value>>,
            Option<Json<Value>>,
        );
        let rows = fetch_all!(self.conn, Row, WHOLE, router.as_str(), only.map(|id| id.as_str()))?;
        rows.into_iter()
            .map(|(id, router, name, kind, published_id, test, created, updated, draft, published)| {
                Ok(WholeFlow {
                    flow: flow((id, router, name, kind, published_id, test, created, updated))?,
                    draft: draft.map(|Json(value)| value),
                    published: published.map(|Json(value)| value),
                })
            })
            .collect()
    }
}
