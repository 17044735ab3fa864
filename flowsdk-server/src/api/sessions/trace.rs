//! `GET /sessions/{sessionId}/trace`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::session::{SessionId, SessionTrace};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::path::PathSession;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader, invalid_cursor};
use crate::api::reply::Reply;
use crate::api::state::Sessions;

/// The effects of one event of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionTrace)]
pub(super) struct SessionTraceView {
    /// The session's version after the event.
    version: i64,
    /// The `kind` of the event.
    #[schema(example = "message")]
    event: String,
    /// The steps in order: names of blocks, variables and actions, never a value.
    #[schema(value_type = Vec<Object>)]
    steps: Value,
    created_at: IsoTime,
}

impl From<SessionTrace> for SessionTraceView {
    fn from(trace: SessionTrace) -> Self {
        let SessionTrace { version, event, steps, created_at, .. } = trace;
        Self { version, event, steps, created_at: created_at.into() }
    }
}

/// Which page; the cursor is the version of a trace.
pub(super) struct TraceQuery {
    before: Option<i64>,
    limit: u32,
}

impl FromQuery for TraceQuery {
    fn read(query: &mut QueryReader) -> Self {
        let before = query.parsed("cursor", |text| text.parse().ok(), invalid_cursor());
        Self { before, limit: query.limit() }
    }
}

/// List the traces of the turns of a session
///
/// Newest first; the latest 100 of a session are kept, also when it has ended.
#[utoipa::path(
    get, path = "/sessions/{sessionId}/trace", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session"), PageParams),
    responses((status = 200, description = "A page of traces", body = PageView<SessionTraceView>))
)]
pub(super) async fn list_session_traces(
    can: Can<marks::Sessions, marks::Read>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
    Query(TraceQuery { before, limit }): Query<TraceQuery>,
) -> Result<Reply<PageView<SessionTraceView>>, ApiError> {
    let page = sessions.trace(can.reach(), &id, before, limit).await?;
    let items = page.items.into_iter().map(SessionTraceView::from).collect();
    Ok(Reply(PageView { items, next_cursor: page.next.map(|next| next.to_string()) }))
}
