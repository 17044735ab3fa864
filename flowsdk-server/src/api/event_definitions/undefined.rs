//! `GET /routers/{routerId}/undefined-events`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::event_definition::{NameRequest, UndefinedEvent};
use flowsdk_core::flow::EventName;
use flowsdk_core::id::RouterId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, PageParams, Query, QueryReader, invalid_cursor};
use crate::api::reply::Reply;
use crate::api::state::EventDefinitions;

/// The names that are wanted. The cursor is the last name of the page before.
#[derive(Debug)]
pub(super) struct Wanted(NameRequest);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let name = |text: &str| {
            let text = String::from_utf8(hex::decode(text).ok()?).ok()?;
            EventName::parse(&text).ok().filter(|name| !name.as_str().contains('\0'))
        };
        let after = query.parsed("cursor", name, invalid_cursor());
        Self(NameRequest { limit: query.limit(), after })
    }
}

/// A page of names, in their order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UndefinedEvents {
    items: Vec<UndefinedEvent>,
    /// Leads to the next page; null on the last one.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// List tracked events without a definition
///
/// The names under which a router has tracked events and that have no definition, in their order. A page looks at
/// 2,000 names, so it may have fewer items than its limit, and others after it all the same.
#[utoipa::path(
    get, path = "/routers/{routerId}/undefined-events", tag = "event-definitions",
    params(("routerId" = RouterId, Path, description = "The router"), PageParams),
    responses((status = 200, description = "A page of names", body = UndefinedEvents))
)]
pub(super) async fn list_undefined_events(
    can: Can<marks::Flows, marks::Read>,
    State(definitions): State<Arc<EventDefinitions>>,
    PathId(router): PathId<RouterId>,
    Query(Wanted(request)): Query<Wanted>,
) -> Result<Reply<UndefinedEvents>, ApiError> {
    let router = can.admit(router)?;
    let page = definitions.undefined(&router, &request).await?;
    Ok(Reply(UndefinedEvents { items: page.items, next_cursor: page.next.map(hex::encode) }))
}
