//! `GET /webchat/history`: the messages of a session, for its visitor (rulings S8).

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use flowsdk_channels::webchat::payload::HistoryItem;
use flowsdk_channels::webchat::{HasWebchat, Visitors};
use flowsdk_core::contact::HasContacts;
use flowsdk_core::fault::StorageError;
use flowsdk_core::media::MediaLinks;
use flowsdk_core::message::{HasMessages, HistoryQuery, Message};
use flowsdk_core::store::Store;
use http::{Extensions, HeaderMap};
use serde::Serialize;

use super::caller;
use crate::api::ApiError;
use crate::api::query::{FromQuery, Query, QueryReader, invalid_cursor};
use crate::api::reply::Reply;

struct Services<S> {
    store: Arc<S>,
    visitors: Arc<Visitors<S>>,
    links: Arc<MediaLinks>,
    trusted_proxies: u32,
}

pub(super) fn routes<S: Store>(
    store: Arc<S>,
    visitors: Arc<Visitors<S>>,
    links: Arc<MediaLinks>,
    trusted_proxies: u32,
) -> Router
where
    S::Tx: HasWebchat + HasContacts + HasMessages,
{
    let services = Arc::new(Services { store, visitors, links, trusted_proxies });
    Router::new().route("/webchat/history", get(history::<S>)).with_state(services)
}

/// The page before a message. The cursor is the number of the last item of the page before; opaque to clients.
struct PageQuery {
    limit: u32,
    before: Option<i64>,
}

impl FromQuery for PageQuery {
    fn read(query: &mut QueryReader) -> Self {
        let before = query.parsed("cursor", |text| text.parse().ok(), invalid_cursor());
        Self { limit: query.limit(), before }
    }
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
    Query(PageQuery { limit, before }): Query<PageQuery>,
) -> Result<Reply<HistoryPage>, ApiError>
where
    S::Tx: HasWebchat + HasContacts + HasMessages,
{
    let visitor = services
        .visitors
        .recognise(
            &caller::credentials(&headers),
            caller::of(&headers, &extensions, services.trusted_proxies),
        )
        .await?;
    let page = async {
        let mut tx = services.store.read().await?;
        let Some((chat, _)) = tx.webchat().find_chat(&visitor.channel_id, &visitor.contact_id).await? else {
            return Ok(None);
        };
        tx.messages().history(&HistoryQuery { chat_id: &chat, before, limit }).await.map(Some)
    }
    .await
    .map_err(|error: StorageError| ApiError::of(&error))?;
    let (items, next) = page.map(|page| (page.items, page.next)).unwrap_or_default();
    let shown = |mut message: Message| {
        services.links.show(&visitor.router_id, &mut message.content);
        HistoryItem::from(message)
    };
    Ok(Reply(HistoryPage {
        items: items.into_iter().map(shown).collect(),
        next_cursor: next.map(|seq| seq.to_string()),
    }))
}
