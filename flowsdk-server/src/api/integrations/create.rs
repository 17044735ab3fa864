//! `POST /integrations`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::integration::{Integration, IntegrationView, NewIntegration};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Integrations;

/// Create an integration
#[utoipa::path(
    post, path = "/integrations", tag = "integrations",
    params(IdempotencyParams),
    request_body = NewIntegration,
    responses(
        (status = 201, description = "The integration", body = IntegrationView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_integration(
    can: Can<marks::Routers, marks::Write>,
    State(integrations): State<Arc<Integrations>>,
    body: Idempotent<NewIntegration>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |integration: &Integration| stored(&IntegrationView::from(integration)),
    });
    Ok(match integrations.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(integration) => {
            let body = IntegrationView::from(integration);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
