//! `PATCH /event-definitions/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::event_definition::{EventDefinitionChange, EventDefinitionId, EventDefinitionView};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::EventDefinitions;

/// Change an event definition
#[utoipa::path(
    patch, path = "/event-definitions/{id}", tag = "event-definitions",
    params(("id" = EventDefinitionId, Path, description = "The definition")),
    request_body = EventDefinitionChange,
    responses(
        (status = 200, description = "The definition", body = EventDefinitionView),
        (status = 409, description = "`name_taken`"),
    )
)]
pub(super) async fn patch_event_definition(
    can: Can<marks::Flows, marks::Write>,
    State(definitions): State<Arc<EventDefinitions>>,
    PathId(id): PathId<EventDefinitionId>,
    Body(change): Body<EventDefinitionChange>,
) -> Result<Reply<EventDefinitionView>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(definitions.change(&author, reach, &id, change).await?.into()))
}
