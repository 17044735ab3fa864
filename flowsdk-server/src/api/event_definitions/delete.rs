//! `DELETE /event-definitions/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::event_definition::EventDefinitionId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::EventDefinitions;

/// Delete an event definition
///
/// Its events stay.
#[utoipa::path(
    delete, path = "/event-definitions/{id}", tag = "event-definitions",
    params(("id" = EventDefinitionId, Path, description = "The definition")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_event_definition(
    can: Can<marks::Flows, marks::Write>,
    State(definitions): State<Arc<EventDefinitions>>,
    PathId(id): PathId<EventDefinitionId>,
) -> Result<StatusCode, ApiError> {
    definitions.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
