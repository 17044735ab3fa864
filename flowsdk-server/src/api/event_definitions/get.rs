//! `GET /event-definitions/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::event_definition::{EventDefinitionId, EventDefinitionView};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::EventDefinitions;

/// Show an event definition
#[utoipa::path(
    get, path = "/event-definitions/{id}", tag = "event-definitions",
    params(("id" = EventDefinitionId, Path, description = "The definition")),
    responses((status = 200, description = "The definition", body = EventDefinitionView))
)]
pub(super) async fn get_event_definition(
    can: Can<marks::Flows, marks::Read>,
    State(definitions): State<Arc<EventDefinitions>>,
    PathId(id): PathId<EventDefinitionId>,
) -> Result<Reply<EventDefinitionView>, ApiError> {
    Ok(Reply(definitions.get(can.reach(), &id).await?.into()))
}
