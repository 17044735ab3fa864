//! `GET /{id}`: a number, or a file.

use axum::Json;
use axum::extract::{OriginalUri, Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::phone::webhook::keyed_digest;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::json;

use super::media::told_media;
use super::{missing, refusal, token_of};
use crate::simulator::provider::Provider;

/// What an object is asked with.
#[derive(Deserialize)]
pub(super) struct Proof {
    /// The proof that the caller knows the secret of the app.
    #[serde(default)]
    appsecret_proof: Option<String>,
    /// The number that a file came to.
    #[serde(default)]
    phone_number_id: Option<String>,
}

pub(super) async fn show(
    State(provider): State<Provider>,
    Path((_version, id)): Path<(String, String)>,
    Query(proof): Query<Proof>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    match provider.media(&id) {
        Some(media) => told_media(&provider, &media, &uri, &headers),
        // Files and numbers are told apart by their ids alone. One that was deleted is neither.
        None if proof.phone_number_id.is_some() => missing(&id),
        None => number(&provider, id, proof, &headers),
    }
}

fn number(provider: &Provider, number: String, proof: Proof, headers: &HeaderMap) -> Response {
    let secret = provider.state().config.app_secret.clone();
    let expected = token_of(headers).map(|token| keyed_digest(&secret, token.as_bytes()));
    if proof.appsecret_proof.is_some_and(|proof| Some(proof) != expected) {
        return refusal(100, "Invalid appsecret_proof provided in the API argument", None);
    }
    Json(json!({ "id": number, "display_phone_number": number, "quality_rating": "GREEN" })).into_response()
}
