//! Sessions, as they are administered.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::session::{
    Frost, FrozenError, FrozenItem, FrozenSession, Mode, Session, SessionCatalog, SessionFilter, SessionId,
};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::executor::{execute, fetch_all, fetch_all_replanned, fetch_optional, id, optional_id};
use super::list::{self, Filter, ListSql};
use super::session::{Row, State, session};
use super::statement::{Sql, sql, sql_list};
use super::{SqlTx, page};

macro_rules! columns {
    ($rest:literal) => {
        concat!(
            "SELECT id, version, epoch, router_id, contact_id, chat_id, mode, state, started_at, last_interaction_at,
                wake_at, EXISTS (SELECT 1 FROM frozen_session WHERE frozen_session.session_id = session.id)",
            $rest
        )
    };
}

const FIND: Sql = sql(columns!(" FROM session WHERE id = $1"));

/// A flow is of one router, so who asks for its sessions walks no more than those of its router, if he names it.
static LIST: ListSql = ListSql::new(
    columns!(", began_at FROM session"),
    "session",
    ("began_at", "id"),
    ("session", "began_at", "id", "router_id"),
    &[
        Filter::of("mode = {}"),
        Filter::of("contact_id = {}"),
        Filter::per("state ->> '$.position.flowId' = {}", "state #>> '{position,flowId}' = {}"),
    ],
);

macro_rules! frozen {
    ($rest:literal) => {
        concat!(
            "SELECT session_id, error_code, error_message, entry, frozen_at, frozen_session.router_id, session.mode,
                session.state
             FROM frozen_session LEFT JOIN session ON session.id = frozen_session.session_id",
            $rest
        )
    };
}

const FIND_FROZEN: Sql = sql(frozen!(" WHERE session_id = $1"));

static LIST_FROZEN: ListSql = ListSql::new(
    frozen!(""),
    "frozen_session",
    ("frozen_at", "session_id"),
    ("frozen_session", "frozen_at", "session_id", "router_id"),
    &[],
);

const FROSTS: Sql = sql_list!(
    "SELECT session_id, error_code, error_message, frozen_at FROM frozen_session WHERE session_id IN ",
    "$1",
    ""
);

const FORGET_KEPT: Sql = sql("DELETE FROM kept_entry WHERE session_id = $1");

super::statement::statements! { FIND, FIND_FROZEN, FROSTS, FORGET_KEPT; LIST, LIST_FROZEN }

#[cfg(test)]
pub(super) fn lists() -> [(&'static str, &'static ListSql); 2] {
    [("session", &LIST), ("frozen_session", &LIST_FROZEN)]
}

type ListRow =
    (String, i64, i64, String, String, String, String, Json<State>, i64, i64, Option<i64>, bool, i64);

fn listed(row: ListRow) -> Result<(Session, i64), StorageError> {
    let (a, b, c, d, e, f, g, h, i, j, k, l, began_at) = row;
    Ok((session((a, b, c, d, e, f, g, h, i, j, k, l))?.session, began_at))
}

type FrozenRow =
    (String, String, String, Json<Value>, i64, Option<String>, Option<String>, Option<Json<State>>);

fn frozen(row: FrozenRow) -> Result<FrozenItem, StorageError> {
    let (session_id, code, message, Json(entry), frozen_at, router_id, mode, state) = row;
    Ok(FrozenItem {
        frozen: FrozenSession {
            session_id: id("frozen_session", session_id)?,
            error: FrozenError { code, message },
            entry,
            frozen_at: Timestamp::from_millis(frozen_at),
        },
        router_id: optional_id("frozen_session", router_id)?,
        mode: mode.and_then(|name| {
            [Mode::Flow, Mode::Human, Mode::Agent].into_iter().find(|known| known.name() == name)
        }),
        position: state.and_then(|Json(state)| state.position),
    })
}

#[async_trait]
impl SessionCatalog for SqlTx {
    async fn find(&mut self, id: &SessionId) -> Result<Option<Session>, StorageError> {
        let row = fetch_optional!(self.conn, Row, FIND, id.as_str())?;
        Ok(row.map(session).transpose()?.map(|stored| stored.session))
    }

    async fn list(
        &mut self,
        filter: &SessionFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Session>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), only);
        let sql = LIST.of(
            routers.is_some(),
            &[filter.mode.is_some(), filter.contact_id.is_some(), filter.flow_id.is_some()],
        );
        let (at, before) = page::before(page);
        let rows = fetch_all_replanned!(
            self.conn,
            ListRow,
            sql,
            at,
            before,
            page::rows(page),
            routers.map(Json),
            filter.mode.map(Mode::name),
            filter.contact_id.as_ref().map(|id| id.as_str()),
            filter.flow_id.as_ref().map(|id| id.as_str()),
        )?;
        let rows = rows.into_iter().map(listed).collect::<Result<Vec<_>, _>>()?;
        let page = Page::from_rows(rows, page.limit, |(session, began_at)| Cursor {
            at: Timestamp::from_millis(*began_at),
            id: session.id.to_string(),
        });
        Ok(page.map(|(session, _)| session))
    }

    async fn frosts(&mut self, ids: &[&SessionId]) -> Result<Vec<(SessionId, Frost)>, StorageError> {
        let rows = fetch_all!(self.conn, (String, String, String, i64), FROSTS, Json(ids))?;
        rows.into_iter()
            .map(|(session_id, code, message, frozen_at)| {
                let error = FrozenError { code, message };
                let frost = Frost { error, frozen_at: Timestamp::from_millis(frozen_at) };
                Ok((id("frozen_session", session_id)?, frost))
            })
            .collect()
    }

    async fn find_frozen(&mut self, id: &SessionId) -> Result<Option<FrozenItem>, StorageError> {
        fetch_optional!(self.conn, FrozenRow, FIND_FROZEN, id.as_str())?.map(frozen).transpose()
    }

    async fn list_frozen(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<FrozenItem>, StorageError> {
        let (at, before) = page::before(page);
        let sql = LIST_FROZEN.of(only.is_some(), &[]);
        let rows =
            fetch_all_replanned!(self.conn, FrozenRow, sql, at, before, page::rows(page), only.map(Json))?;
        page::of(rows, page, frozen, |item| (item.frozen.frozen_at, item.frozen.session_id.to_string()))
    }

    async fn forget_kept(&mut self, id: &SessionId) -> Result<(), StorageError> {
        execute!(self.conn, FORGET_KEPT, id.as_str()).map(drop)
    }
}
