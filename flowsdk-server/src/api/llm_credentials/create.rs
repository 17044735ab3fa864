//! `POST /llm-credentials`.

use flowsdk_core::schema::SecureAddress;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_core::credential::{LlmCredential, LlmProvider, NewLlmCredential};
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::integration::BaseUrl;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, LlmCredentialView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::LlmCredentials;

/// A credential to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateLlmCredential {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Produção")]
    name: String,
    provider: LlmProvider,
    /// Where the provider answers; `openai_compatible` needs it.
    #[schema(value_type = Option<SecureAddress>)]
    base_url: Option<BaseUrl>,
    /// Kept encrypted and never shown.
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 4_096, pattern = "^[!-~]+$")]
    api_key: SecretString,
}

/// Create a credential of a model provider
#[utoipa::path(
    post, path = "/llm-credentials", tag = "llm-credentials",
    params(IdempotencyParams),
    request_body = CreateLlmCredential,
    responses(
        (status = 201, description = "The credential", body = LlmCredentialView),
        (status = 409, description = "`idempotency_conflict`"),
    )
)]
pub(super) async fn create_llm_credential(
    can: Can<marks::Settings, marks::Write>,
    State(credentials): State<Arc<LlmCredentials>>,
    body: Idempotent<CreateLlmCredential>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |credential: &LlmCredential| stored(&LlmCredentialView::from(credential.clone())),
    });
    let CreateLlmCredential { name, provider, base_url, api_key } = body;
    let new = NewLlmCredential { name, provider, base_url, api_key };
    Ok(match credentials.create(&can.caller.author(), new, once).await? {
        Outcome::Done(credential) => {
            let body = LlmCredentialView::from(credential);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
