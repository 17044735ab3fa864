//! `POST /llm-credentials`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::credential::{LlmCredential, LlmCredentialView, NewLlmCredential};
use flowsdk_core::idempotency::{Once, Outcome};

use super::COLLECTION;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::LlmCredentials;

/// Create a credential of a model provider
#[utoipa::path(
    post, path = "/llm-credentials", tag = "llm-credentials",
    params(IdempotencyParams),
    request_body = NewLlmCredential,
    responses(
        (status = 201, description = "The credential", body = LlmCredentialView),
        (status = 409, description = "`idempotency_conflict`"),
    )
)]
pub(super) async fn create_llm_credential(
    can: Can<marks::Settings, marks::Write>,
    State(credentials): State<Arc<LlmCredentials>>,
    body: Idempotent<NewLlmCredential>,
) -> Result<Response, ApiError> {
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |credential: &LlmCredential| stored(&LlmCredentialView::from(credential)),
    });
    Ok(match credentials.create(&can.caller.author(), new, once).await? {
        Outcome::Done(credential) => {
            let body = LlmCredentialView::from(credential);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
