//! `POST /event-definitions`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::event_definition::{CountedDefinition, EventDefinitionView, NewEventDefinition};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::EventDefinitions;

/// Create an event definition
///
/// It describes the events that flows track under its name. Events are tracked with and without a definition.
#[utoipa::path(
    post, path = "/event-definitions", tag = "event-definitions",
    params(IdempotencyParams),
    request_body = NewEventDefinition,
    responses(
        (status = 201, description = "The definition", body = EventDefinitionView),
        (status = 409, description = "`name_taken`: the router has a definition of this name; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_event_definition(
    can: Can<marks::Flows, marks::Write>,
    State(definitions): State<Arc<EventDefinitions>>,
    body: Idempotent<NewEventDefinition>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |counted: &CountedDefinition| stored(&EventDefinitionView::from(counted.clone())),
    });
    Ok(match definitions.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(counted) => {
            let body = EventDefinitionView::from(counted);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
