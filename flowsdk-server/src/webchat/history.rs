//! `GET /webchat/history`: what was said, for the visitor who said it (sockets, webchat).

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use flowsdk_channels::webchat::payload::HistoryItem;
use flowsdk_channels::webchat::{Handshake, Visitors, WebchatTx};
use flowsdk_core::fault::FaultKind;
use flowsdk_core::id::MessageId;
use flowsdk_core::message::HistoryQuery;
use flowsdk_core::store::{ConversationTx as _, Store};
use flowsdk_core::time::Timestamp;
use http::{Extensions, HeaderMap};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::caller;
use crate::api::ApiError;

/// Page sizes (rulings H9).
const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;

struct Services<S> {
    store: Arc<S>,
    visitors: Arc<Visitors<S>>,
    trusted_proxies: u32,
}

pub(super) fn routes<S: Store>(store: Arc<S>, visitors: Arc<Visitors<S>>, trusted_proxies: u32) -> Router
where
    S::Tx: WebchatTx,
{
    let services = Arc::new(Services { store, visitors, trusted_proxies });
    Router::new().route("/webchat/history", get(history::<S>)).with_state(services)
}

#[derive(Deserialize)]
struct PageQuery {
    #[serde(default)]
    limit: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HistoryPage {
    items: Vec<HistoryItem>,
    next_cursor: Option<String>,
}

async fn history<S: Store>(
    State(services): State<Arc<Services<S>>>,
    headers: HeaderMap,
    extensions: Extensions,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Json<HistoryPage>, ApiError>
where
    S::Tx: WebchatTx,
{
    let Query(query) = query.map_err(|_| invalid("query"))?;
    let limit = limit(query.limit.as_deref())?;
    let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let visitor = services
        .visitors
        .recognise(&credentials(&headers), caller::of(&headers, &extensions, services.trusted_proxies))
        .await
        .map_err(|error| ApiError::of(&error))?;
    let page = async {
        let mut tx = services.store.read().await?;
        let Some(chat) = tx.webchat().find_chat(&visitor.channel_id, &visitor.contact_id).await? else {
            return Ok(None);
        };
        tx.messages().history(&HistoryQuery { chat_id: &chat, before, limit }).await.map(Some)
    }
    .await
    .map_err(|error: flowsdk_core::fault::StorageError| ApiError::of(&error))?;
    let (items, next) = page.map(|page| (page.items, page.next)).unwrap_or_default();
    Ok(Json(HistoryPage {
        items: items.into_iter().map(HistoryItem::from).collect(),
        next_cursor: next.map(|(at, id)| format!("{}.{id}", at.as_millis())),
    }))
}

/// The headers `x-channel-id`, `x-user-id`, `x-session-key`, or a bearer token.
fn credentials(headers: &HeaderMap) -> Handshake {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    Handshake {
        channel_id: text("x-channel-id").unwrap_or_default(),
        user_id: text("x-user-id"),
        session_key: text("x-session-key").map(SecretString::from),
        token: bearer.map(SecretString::from),
        since: None,
    }
}

fn limit(text: Option<&str>) -> Result<u32, ApiError> {
    let Some(text) = text else {
        return Ok(DEFAULT_LIMIT);
    };
    text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| invalid("limit"))
}

/// `<millis>.<id>` of the last item of the page before; opaque to clients.
fn parse_cursor(text: &str) -> Result<(Timestamp, MessageId), ApiError> {
    let parse = || {
        let (at, id) = text.split_once('.')?;
        Some((Timestamp::from_millis(at.parse().ok()?), MessageId::parse(id).ok()?))
    };
    parse().ok_or_else(|| invalid("cursor"))
}

fn invalid(field: &str) -> ApiError {
    ApiError::new(FaultKind::Invalid, "validation_failed", format!("Valor inválido: {field}"))
}
