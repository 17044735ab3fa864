//! `GET /sessions/frozen`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{BlockId, FlowId, MessageId, RouterId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::page::PageRequest;
use flowsdk_core::session::{FrozenError, FrozenItem, Mode, SessionId};
use flowsdk_core::text::Language;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::request;
use crate::api::state::Sessions;

/// Why a session froze.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FrozenError)]
pub(super) struct FrozenErrorView {
    #[schema(example = "flow_loop")]
    code: String,
    /// For people, in the language of `Accept-Language`.
    #[schema(example = "more than 100 blocks without a stop")]
    message: String,
}

impl FrozenErrorView {
    pub(super) fn of(error: FrozenError, language: Language) -> Self {
        let message = error.text().into_language(language).into_owned();
        Self { code: error.code, message }
    }
}

/// Most characters of the text of a message that are shown.
const EXCERPT: usize = 100;

/// A message at which a session stopped.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FrozenMessage)]
struct StoppedMessageView {
    /// As in the chat, and in the log.
    #[schema(required = true)]
    id: Option<MessageId>,
    /// The `type` of the message.
    #[schema(example = "text")]
    r#type: String,
    /// The first 100 characters of its text, or of the title that was tapped.
    text: String,
}

impl From<IncomingMessage> for StoppedMessageView {
    fn from(message: IncomingMessage) -> Self {
        let content = &message.content;
        let text = content.as_text().chars().take(EXCERPT).collect();
        Self { r#type: content.kind().to_owned(), text, id: message.internal_id }
    }
}

// Rulings S5.
/// A session that an error stopped.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FrozenSession)]
pub(super) struct FrozenSessionView {
    session_id: SessionId,
    #[schema(required = true)]
    router_id: Option<RouterId>,
    #[schema(required = true)]
    flow_id: Option<FlowId>,
    #[schema(required = true)]
    block_id: Option<BlockId>,
    /// Null for a session that could not even begin.
    #[schema(required = true)]
    mode: Option<Mode>,
    error: FrozenErrorView,
    /// The message at which it stopped; null if it stopped at another event.
    #[schema(required = true)]
    message: Option<StoppedMessageView>,
    /// The entry of a stream that could not be handled.
    #[schema(value_type = Object)]
    entry: Value,
    frozen_at: IsoTime,
}

impl FrozenSessionView {
    fn of(item: FrozenItem, language: Language) -> Self {
        let FrozenItem { frozen, router_id, mode, position, message } = item;
        Self {
            session_id: frozen.session_id,
            router_id,
            flow_id: position.as_ref().map(|position| position.flow_id.clone()),
            block_id: position.and_then(|position| position.block_id),
            mode,
            error: FrozenErrorView::of(frozen.error, language),
            message: message.map(StoppedMessageView::from),
            entry: frozen.entry,
            frozen_at: frozen.frozen_at.into(),
        }
    }
}

/// List frozen sessions
///
/// Those that froze last come first. Messages that their contacts write meanwhile are stored and kept in order.
#[utoipa::path(
    get, path = "/sessions/frozen", tag = "sessions",
    params(PageParams, RouterParams),
    responses((status = 200, description = "A page of frozen sessions", body = PageView<FrozenSessionView>))
)]
pub(super) async fn list_frozen_sessions(
    can: Can<marks::Sessions, marks::Read>,
    State(sessions): State<Arc<Sessions>>,
    Query((page, OfRouter(router))): Query<(PageRequest, OfRouter)>,
) -> Result<Reply<PageView<FrozenSessionView>>, ApiError> {
    let router = router.map(|router| can.admit(router)).transpose()?;
    let page = sessions.frozen(can.reach(), router.as_ref(), &page).await?;
    let (_, language) = request::facts();
    Ok(Reply(PageView::of(page, |item| FrozenSessionView::of(item, language))))
}
