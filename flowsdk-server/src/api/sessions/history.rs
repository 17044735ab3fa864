//! `GET /sessions/{sessionId}/history`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::session::HistoryItem;
use flowsdk_core::session::{HistoryKind, HistoryPlace, SessionId};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::path::PathSession;
use super::view::NamedView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader, invalid_cursor};
use crate::api::reply::Reply;
use crate::api::state::Sessions;

/// A stop of a session, or a redirect.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionHistoryItem)]
pub(super) struct HistoryItemView {
    kind: HistoryKind,
    /// Counts the known entries of this kind, from 1. It stays the same while the session lasts.
    #[schema(minimum = 1, example = 57)]
    number: i64,
    /// The flow of the stop, or the one to which the redirect led.
    flow: NamedView,
    block: NamedView,
}

impl From<HistoryItem> for HistoryItemView {
    fn from(item: HistoryItem) -> Self {
        let HistoryItem { kind, number, flow, block } = item;
        Self { kind, number: number + 1, flow: flow.into(), block: block.into() }
    }
}

/// Which of the two lists.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct HistoryParams {
    /// Stops at input blocks, or external redirects.
    #[param(value_type = Option<HistoryKind>, default = "stop")]
    kind: Option<String>,
}

/// The list and the page that are wanted.
pub(super) struct HistoryQuery {
    kind: HistoryKind,
    after: Option<HistoryPlace>,
    limit: u32,
}

impl FromQuery for HistoryQuery {
    fn read(query: &mut QueryReader) -> Self {
        let kind = query.one_of("kind", &HistoryKind::ALL, HistoryKind::name);
        let after = query.parsed("cursor", |text| HistoryPlace::parse(text).ok(), invalid_cursor());
        Self { kind: kind.unwrap_or(HistoryKind::Stop), after, limit: query.limit() }
    }
}

/// List all stops or redirects of a session
///
/// Newest first; `sessionHistory` and `redirectHistory` of the session are the latest 20 of them. The latest 10,000 of a
/// session are kept until it ends. A cursor holds while the session lasts; if another session has begun under the same
/// id, the answer is 404.
#[utoipa::path(
    get, path = "/sessions/{sessionId}/history", tag = "sessions",
    params(("sessionId" = SessionId, Path, description = "The session"), PageParams, HistoryParams),
    responses((status = 200, description = "A page of stops or redirects", body = PageView<HistoryItemView>))
)]
pub(super) async fn list_session_history(
    can: Can<marks::Sessions, marks::Read>,
    State(sessions): State<Arc<Sessions>>,
    PathSession(id): PathSession,
    Query(HistoryQuery { kind, after, limit }): Query<HistoryQuery>,
) -> Result<Reply<PageView<HistoryItemView>>, ApiError> {
    let page = sessions.history(can.reach(), &id, kind, after, limit).await?;
    let items = page.items.into_iter().map(HistoryItemView::from).collect();
    Ok(Reply(PageView { items, next_cursor: page.next.map(|next| next.to_string()) }))
}
