//! Sessions, as they are administered.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::page::{Cursor, Page, PageRequest};
use flowsdk_core::session::{
    ChunksWanted, Frost, FrozenError, FrozenItem, FrozenSession, HasSessionCatalog, HistoryChunk,
    HistoryKind, Mode, Position, Session, SessionCatalog, SessionFilter, SessionId, StoredSession,
};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::{self, Asked, Filter, ListSql, asked, given};
use super::record::Record as _;
use super::row::With;
use super::session::COLUMNS;
use super::statement::{Sql, sql, sql_list};

const FIND: Sql = sql(concat!("SELECT ", COLUMNS, " FROM session WHERE id = $1"));

/// A flow is of one router, so a caller who asks for its sessions walks no more than those of the router they name.
pub(super) static LIST: ListSql<SessionFilter> =
    ListSql::new(concat!("SELECT ", COLUMNS, ", began_at FROM session"), "session")
        .by("began_at", "id")
        .within("router_id")
        .replanned()
        .filters(&[
            Filter::of("mode = {}", |filter| match &filter.mode {
                Some(mode) if *mode == Mode::Flow => given(mode),
                _ => Asked::No,
            }),
            // The second condition is that of an index, which a bound value cannot show to hold.
            Filter::of("mode = {} AND mode <> 'flow'", |filter| match &filter.mode {
                Some(mode) if *mode != Mode::Flow => given(mode),
                _ => Asked::No,
            }),
            Filter::of("contact_id = {}", |filter| asked(&filter.contact_id)),
            Filter::per(
                "state ->> '$.position.flowId' = {}",
                "state #>> '{position,flowId}' = {}",
                |filter| asked(&filter.flow_id),
            ),
        ]);

/// A frozen session with its router, its mode, where it stands, and the message at which it stopped: that of the turn
/// which waits for a result, or else the first of those that wait.
const FROZEN: &str = concat!(
    "SELECT ",
    FrozenSession::COLUMNS,
    ", router_id, (SELECT mode FROM session WHERE session.id = frozen_session.session_id),
        (SELECT state->'position' FROM session WHERE session.id = frozen_session.session_id),
        (SELECT COALESCE(state->'pending'->'input', state->'deferred'->0) FROM session
            WHERE session.id = frozen_session.session_id)
     FROM frozen_session"
);

const FIND_FROZEN: Sql = sql(concat!(FROZEN, " WHERE session_id = $1"));

pub(super) static LIST_FROZEN: ListSql =
    ListSql::new(FROZEN, "frozen_session").by("frozen_at", "session_id").within("router_id").replanned();

const FROSTS: Sql = sql_list!(
    "SELECT session_id, error_code, error_message, frozen_at FROM frozen_session WHERE session_id ",
    "$1",
    ""
);

const FORGET_KEPT: Sql = sql("DELETE FROM kept_entry WHERE session_id = $1");

super::statement::statements! { FIND, FIND_FROZEN, FROSTS, FORGET_KEPT; LIST, LIST_FROZEN }

type FrozenRow = With<
    FrozenSession,
    (Option<RouterId>, Option<Mode>, Option<Json<Option<Position>>>, Option<Json<Option<IncomingMessage>>>),
>;

fn frozen(With(frozen, (router_id, mode, position, message)): FrozenRow) -> FrozenItem {
    let (position, message) = (position.and_then(|Json(it)| it), message.and_then(|Json(it)| it));
    FrozenItem { frozen, router_id, mode, position, message }
}

super::accessor::has!(HasSessionCatalog::session_catalog -> SessionCatalog);

#[async_trait]
impl SessionCatalog for SqlTx {
    async fn find(&mut self, id: &SessionId) -> Result<Option<StoredSession>, StorageError> {
        let row = self.conn.fetch_optional(FIND, (id,)).await?;
        Ok(self.conn.counted(row.into_iter().collect()).await?.pop())
    }

    async fn list(
        &mut self,
        filter: &SessionFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Session>, StorageError> {
        type Row = With<StoredSession, (Timestamp,)>;
        let routers = list::routers(filter.router_id.as_ref(), only);
        let place = |With(stored, (began_at,)): &Row| Cursor::of(*began_at, &stored.session.id);
        let rows = self.conn.page(&LIST, filter, routers, page, place).await?;
        Ok(rows.map(|With(stored, _)| stored.session))
    }

    async fn frosts(&mut self, ids: &[&SessionId]) -> Result<Vec<(SessionId, Frost)>, StorageError> {
        type Row = (SessionId, String, String, Timestamp);
        let rows = self.conn.fetch_all::<Row>(FROSTS, (Json(ids),)).await?;
        let frost = |(id, code, message, frozen_at): Row| {
            (id, Frost { error: FrozenError { code, message }, frozen_at })
        };
        Ok(rows.into_iter().map(frost).collect())
    }

    async fn find_frozen(&mut self, id: &SessionId) -> Result<Option<FrozenItem>, StorageError> {
        Ok(self.conn.fetch_optional(FIND_FROZEN, (id,)).await?.map(frozen))
    }

    async fn list_frozen(
        &mut self,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<FrozenItem>, StorageError> {
        let place = |With(frozen, _): &FrozenRow| Cursor::of(frozen.frozen_at, &frozen.session_id);
        Ok(self.conn.page(&LIST_FROZEN, &(), only, page, place).await?.map(frozen))
    }

    async fn archived(
        &mut self,
        id: &SessionId,
        kind: HistoryKind,
        wanted: ChunksWanted,
    ) -> Result<Vec<HistoryChunk>, StorageError> {
        self.conn.chunks(id, kind, wanted).await
    }

    async fn forget_kept(&mut self, id: &SessionId) -> Result<(), StorageError> {
        self.conn.execute(FORGET_KEPT, (id,)).await.map(drop)
    }
}
