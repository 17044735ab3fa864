//! `/{number}/whatsapp_business_profile`: what phones show of a business.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal;
use crate::simulator::profile::Profile;
use crate::simulator::provider::Provider;

/// What a profile is asked with.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// The names of the fields, separated by commas.
    #[serde(default)]
    fields: Option<String>,
}

pub(super) async fn show(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Response {
    let fields = asked.fields.as_deref().unwrap_or_default().split(',').map(str::trim);
    let fields: Vec<&str> = fields.filter(|name| !name.is_empty()).collect();
    if let Some(unknown) = fields.iter().find(|name| !Profile::has(name)) {
        return refusal(100, &format!("Tried accessing nonexisting field ({unknown})"), None);
    }
    let mut told = json!(provider.profile(&number));
    if let Some(told) = told.as_object_mut() {
        // What is not asked for is not told.
        told.retain(|name, _| fields.contains(&&**name));
        told.insert("messaging_product".to_owned(), "whatsapp".into());
    }
    Json(json!({ "data": [told] })).into_response()
}

pub(super) async fn change(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    match read(&body) {
        Ok(change) => {
            provider.change_profile(&number, change);
            Json(json!({ "success": true })).into_response()
        }
        Err(details) => refusal(100, &details, None),
    }
}

fn read(body: &[u8]) -> Result<Profile, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if body["messaging_product"] != "whatsapp" {
        return Err("The parameter messaging_product is required.".to_owned());
    }
    let change: Profile = serde_json::from_value(body).map_err(|error| error.to_string())?;
    change.check()?;
    Ok(change)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::{Request, StatusCode};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    async fn call(provider: &Provider, method: &str, query: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(format!("/v24.0/111/whatsapp_business_profile{query}"))
            .header("authorization", "Bearer a-token")
            .body(Body::from(body.to_string()));
        let routes = super::super::routes(provider.clone());
        let answer = routes.oneshot(request.expect("a request")).await.expect("an answer");
        let status = answer.status();
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    #[tokio::test]
    async fn a_profile_is_changed_and_told_by_fields() {
        let provider = Provider::of_tests(None);
        let change = |fields: Value| {
            let mut body = json!({ "messaging_product": "whatsapp" });
            body.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
            body
        };
        for fields in [json!({ "about": "Pães", "email": "a@b.example" }), json!({ "about": "Pães e bolos" })]
        {
            let answer = call(&provider, "POST", "", &change(fields)).await;
            assert_eq!(answer, (StatusCode::OK, json!({ "success": true })));
        }
        for (query, told) in [
            ("", json!({ "messaging_product": "whatsapp" })),
            ("?fields=about,address", json!({ "messaging_product": "whatsapp", "about": "Pães e bolos" })),
            ("?fields=email", json!({ "messaging_product": "whatsapp", "email": "a@b.example" })),
        ] {
            let answer = call(&provider, "GET", query, &Value::Null).await;
            assert_eq!(answer, (StatusCode::OK, json!({ "data": [told] })), "{query}");
        }
        for (method, query, body) in [
            ("GET", "?fields=colour", Value::Null),
            ("POST", "", json!({ "about": "x" })),
            ("POST", "", change(json!({ "about": "x".repeat(140) }))),
            ("POST", "", change(json!({ "about": 7 }))),
        ] {
            let (status, answer) = call(&provider, method, query, &body).await;
            assert_eq!((status, &answer["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(100)), "{body}");
        }
    }
}
