//! `/{account}/message_templates`, and `/{account}/subscribed_apps`.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{missing, refusal};
use crate::simulator::provider::Provider;
use crate::simulator::template::{self, Review};

/// What a page of templates is asked with.
#[derive(Deserialize)]
pub(super) struct Paged {
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

pub(super) async fn list(
    State(provider): State<Provider>,
    Path((_version, account)): Path<(String, String)>,
    Query(paged): Query<Paged>,
) -> Response {
    if !is_account(&provider, &account) {
        return missing(&account);
    }
    let (page, has_more) =
        provider.templates(paged.after.as_deref(), paged.limit.unwrap_or(25).clamp(1, 100));
    let last = page.last().map(|template| template.id.clone());
    let mut paging =
        json!({ "cursors": { "before": page.first().map(|template| &template.id), "after": last } });
    if has_more {
        paging["next"] = "https://provider.invalid/next".into();
    }
    let listed: Vec<Value> = page
        .iter()
        .map(|template| {
            let mut told = json!(template);
            told["parameter_format"] = "POSITIONAL".into();
            told["rejected_reason"] = template.rejected_reason.as_deref().unwrap_or("NONE").into();
            told["quality_score"] = json!({ "score": "UNKNOWN" });
            told
        })
        .collect();
    Json(json!({ "data": listed, "paging": paging })).into_response()
}

pub(super) async fn create(
    State(provider): State<Provider>,
    Path((_version, account)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    if !is_account(&provider, &account) {
        return missing(&account);
    }
    let template = match template::read(&body) {
        Ok(template) => template,
        Err(details) => return refusal(100, &details, None),
    };
    let (category, status) = (template.category.clone(), template.status.clone());
    let Some(id) = provider.add_template(template) else {
        return refusal(2_388_024, "Content in this language already exists", None);
    };
    let approves = provider.state().config.approves_templates;
    if approves {
        provider.review(&id, &Review { event: "APPROVED".to_owned(), reason: None });
    }
    Json(json!({ "id": id, "status": status, "category": category })).into_response()
}

fn is_account(provider: &Provider, account: &str) -> bool {
    provider.state().config.account_id == account
}

pub(super) async fn subscribed_apps(
    State(provider): State<Provider>,
    Path((_version, account)): Path<(String, String)>,
) -> Response {
    if !is_account(&provider, &account) {
        return missing(&account);
    }
    let hears = provider.state().config.callback.is_some();
    let app = json!({ "whatsapp_business_api_data": { "id": "1", "name": "Simulator" } });
    Json(json!({ "data": if hears { vec![app] } else { Vec::new() } })).into_response()
}
