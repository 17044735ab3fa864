//! `/{number}/whatsapp_business_encryption`: the public key of the forms of a number.

use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Form, Json};
use flowsdk_crypto::SealedQuestion;
use serde::Deserialize;
use serde_json::json;

use super::refusal;
use crate::simulator::provider::Provider;

/// The public key of a number, as a form of the call.
#[derive(Deserialize)]
pub(super) struct GivenKey {
    business_public_key: String,
}

pub(super) async fn set(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    given: Result<Form<GivenKey>, FormRejection>,
) -> Response {
    let Ok(Form(GivenKey { business_public_key })) = given else {
        return refusal(100, "The parameter business_public_key is required.", None);
    };
    if SealedQuestion::seal(&business_public_key, b"{}").is_err() {
        return refusal(
            100,
            "Param business_public_key must be a valid 2048-bit RSA public key in PEM format.",
            None,
        );
    }
    provider.state().form_keys.insert(number, business_public_key);
    Json(json!({ "success": true })).into_response()
}

pub(super) async fn show(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
) -> Response {
    let told = provider
        .form_key(&number)
        .map(|key| json!({ "business_public_key": key, "business_public_key_signature_status": "VALID" }));
    Json(json!({ "data": Vec::from_iter(told) })).into_response()
}
