//! `POST /templates`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::template::{NewTemplate, Template, TemplateView};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Templates;

/// Create a message template
///
/// As the provider has it, or is to have it: nothing is sent to the provider.
#[utoipa::path(
    post, path = "/templates", tag = "templates",
    params(IdempotencyParams),
    request_body = NewTemplate,
    responses(
        (status = 201, description = "The template", body = TemplateView),
        (status = 409, description = "`name_taken`: router, account, name and language are those of another one; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_template(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<Templates>>,
    body: Idempotent<NewTemplate>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request
        .map(|request| Once { request, answer: |template: &Template| stored(&TemplateView::from(template)) });
    Ok(match templates.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(template) => {
            let body = TemplateView::from(template);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
