//! `/{number}/whatsapp_business_encryption`: the public key of the forms of a number.

use axum::Json;
use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, Path, State};
use axum::response::{IntoResponse as _, Response};
use flowsdk_crypto::SealedQuestion;
use serde_json::json;

use super::refusal;
use crate::simulator::provider::Provider;

/// Returns the public key in the form of a call.
async fn given_key(form: Result<Multipart, MultipartRejection>) -> Option<String> {
    let mut form = form.ok()?;
    while let Ok(Some(field)) = form.next_field().await {
        if field.name() == Some("business_public_key") {
            return field.text().await.ok();
        }
    }
    None
}

pub(super) async fn set(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    form: Result<Multipart, MultipartRejection>,
) -> Response {
    let Some(business_public_key) = given_key(form).await else {
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
