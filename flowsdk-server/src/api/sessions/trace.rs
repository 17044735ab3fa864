//! `GET /sessions/{sessionId}/trace`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::cell::Named;
use flowsdk_core::session::{SessionId, SessionTrace};
use flowsdk_core::time::IsoTime;
use http::{HeaderMap, header};
use serde::Serialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::path::PathSession;
use super::trace_text::text_of;
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
    /// The steps in order (docs/flows.md). Texts and values are cut after 200 characters; those of router and flow variables are hidden.
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

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Named)]
#[serde(rename_all = "lowercase")]
pub(super) enum TraceFormat {
    Json,
    Text,
}

/// How the traces are shown.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct FormatParams {
    /// `json` or `text`; without it `text` where `Accept` is `text/plain`, else `json`.
    #[param(required = false, pattern = "^(json|text)$", example = "text")]
    format: String,
}

/// Which page, and its form; the cursor is the version of a trace.
pub(super) struct TraceQuery {
    before: Option<i64>,
    limit: u32,
    format: Option<TraceFormat>,
}

impl FromQuery for TraceQuery {
    fn read(query: &mut QueryReader) -> Self {
        let before = query.parsed("cursor", |text| text.parse().ok(), invalid_cursor());
        let format = query.one_of("format", &TraceFormat::ALL, TraceFormat::name);
        Self { before, limit: query.limit(), format }
    }
}

/// List the traces of the turns of a session
///
/// Newest first; the latest 100 of a session are kept, also when it has ended. As text, the page is read from its oldest
/// turn to its newest. A session that has ended is known by its traces alone: if its flow did not ask for them, it is not
/// found.
#[utoipa::path(
    get, path = "/sessions/{sessionId}/trace", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session"), PageParams, FormatParams),
    responses((status = 200, description = "A page of traces", content(
        (PageView<SessionTraceView> = "application/json"), (String = "text/plain"),
    )))
)]
pub(super) async fn list_session_traces(
    can: Can<marks::Sessions, marks::Read>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
    Query(TraceQuery { before, limit, format }): Query<TraceQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let page = sessions.trace(can.reach(), &id, before, limit).await?;
    if format.map_or_else(|| wants_text(&headers), |format| format == TraceFormat::Text) {
        let headers = [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::VARY, "accept"),
        ];
        return Ok((headers, text_of(&page)).into_response());
    }
    let items = page.items.into_iter().map(SessionTraceView::from).collect();
    let page = PageView { items, next_cursor: page.next.map(|next| next.to_string()) };
    Ok(([(header::VARY, "accept")], Reply(page)).into_response())
}

/// Whether the client asks for text, and not for JSON.
fn wants_text(headers: &HeaderMap) -> bool {
    let kinds = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kinds.split([',', ';']).next().is_some_and(|first| first.trim() == "text/plain")
}
