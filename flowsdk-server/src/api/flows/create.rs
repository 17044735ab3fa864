//! `POST /flows`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::flow::{FlowDetails, NewFlow};
use flowsdk_core::idempotency::{Once, Outcome};

use super::written::with_text;
use super::{COLLECTION, FlowDetailsView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Flows;

/// Create a flow
#[utoipa::path(
    post, path = "/flows", tag = "flows",
    params(IdempotencyParams),
    request_body = NewFlow,
    responses(
        (status = 201, description = "The flow", body = FlowDetailsView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_flow(
    can: Can<marks::Flows, marks::Write>,
    State(flows): State<Arc<Flows>>,
    body: Idempotent<NewFlow>,
) -> Result<Response, ApiError> {
    let text = body.text();
    let (mut new, request) = body.of(&can.caller);
    if let Some(definition) = new.definition.take() {
        new.definition = Some(with_text(definition, text).await?);
    }
    let once = request.map(|request| Once {
        request,
        answer: |created: &FlowDetails| stored(&FlowDetailsView::from(created.clone())),
    });
    Ok(match flows.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(created) => {
            let body = FlowDetailsView::from(created);
            Created { collection: COLLECTION, id: body.flow.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
