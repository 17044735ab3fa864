//! `POST /flows`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::admin::flow::{FlowDetails, NewFlow};
use flowsdk_core::flow::FlowKind;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

use super::{COLLECTION, FlowDetailsView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Flows;

/// A flow to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateFlow {
    router_id: RouterId,
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Boas-vindas")]
    name: String,
    #[serde(default = "flow", deserialize_with = "kind")]
    #[schema(required = false)]
    kind: FlowKind,
    /// The draft (docs/flows.md). It may be wrong; only what is published must not be.
    #[schema(value_type = Object, required = false)]
    definition: Option<Value>,
}

fn flow() -> FlowKind {
    FlowKind::Flow
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FlowKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    FlowKind::parse(&name).ok_or_else(|| serde::de::Error::custom("not a kind of flow"))
}

/// Create a flow
#[utoipa::path(
    post, path = "/flows", tag = "flows",
    params(IdempotencyParams),
    request_body = CreateFlow,
    responses(
        (status = 201, description = "The flow", body = FlowDetailsView),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_flow(
    can: Can<marks::Flows, marks::Write>,
    State(flows): State<Arc<Flows>>,
    body: Idempotent<CreateFlow>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |created: &FlowDetails| stored(&FlowDetailsView::from(created.clone())),
    });
    let CreateFlow { router_id, name, kind, definition } = body;
    let new = can.admit(NewFlow { router_id, name, kind, definition })?;
    Ok(match flows.create(&can.caller.author(), new, once).await? {
        Outcome::Done(created) => {
            let body = FlowDetailsView::from(created);
            Created { collection: COLLECTION, id: body.flow.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
