//! The calls of the provider's API.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::multipart::MultipartRejection;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, Multipart, OriginalUri, Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use flowsdk_channels::phone::webhook::keyed_digest;
use flowsdk_core::contact::{is_user_id, phone_digits};
use flowsdk_crypto::SealedQuestion;
use http::{HeaderMap, StatusCode, Uri, header};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::Fault;
use super::media::{KeptMedia, MOST, MediaFault};
use super::phone::Side;
use super::provider::{Provider, SentMessage};
use super::template::{self, Review};

/// The kinds of messages, each with a node of its name.
const KINDS: [&str; 11] = [
    "text",
    "image",
    "audio",
    "video",
    "document",
    "sticker",
    "location",
    "contacts",
    "reaction",
    "interactive",
    "template",
];

pub(super) fn routes(provider: Provider) -> Router {
    Router::new()
        .route("/{version}/{number}/messages", post(send))
        .route("/{version}/{account}/message_templates", get(list_templates).post(create_template))
        .route("/{version}/{account}/subscribed_apps", get(subscribed_apps))
        .route("/{version}/{number}/whatsapp_business_encryption", get(form_key).post(set_form_key))
        .route("/{version}/{number}/media", post(upload).layer(DefaultBodyLimit::max(MOST)))
        .route("/{version}/{id}", get(number_or_media).delete(delete_media))
        // Where contents are: at the provider this is another host.
        .route("/media/{id}", get(media_content))
        .with_state(provider)
}

async fn send(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let receipt = read_receipt(&body);
    let fault = if receipt.is_some() { None } else { provider.state().begin_call() };
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
    match fault {
        Some(Fault::Refuse { code, retry_after }) => return refusal(code, "As it was told to", retry_after),
        Some(Fault::Drop) => return broken(),
        Some(Fault::Delay { millis }) => tokio::time::sleep(Duration::from_millis(millis)).await,
        Some(Fault::LoseAnswer) | None => {}
    }
    if let Some((id, types)) = receipt {
        // Whether it is there or not, the provider says that it is done.
        provider.state().read_by_business(&number, &id, types);
        return Json(json!({ "success": true })).into_response();
    }
    let (to, body) = match read(&body) {
        Ok(read) => read,
        Err(details) => return refusal(100, &details, None),
    };
    let message = {
        let mut state = provider.state();
        let id = state.next_id();
        let message = SentMessage { id, phone_number_id: number, to, body };
        state.keep(message.clone());
        message
    };
    let mut content = content_of(&message.body);
    if let Some(words) = provider.words(&message.body) {
        content["template"]["text"] = words.into();
    }
    provider.show(&message.phone_number_id, &message.to, &message.id, Side::Business, content);
    provider.tell_of(&message);
    if fault == Some(Fault::LoseAnswer) {
        return broken();
    }
    let mut contact = json!({ "input": message.body["to"].as_str().unwrap_or(&message.to) });
    let field = if is_user_id(&message.to) { "user_id" } else { "wa_id" };
    contact[field] = message.to.as_str().into();
    Json(json!({
        "messaging_product": "whatsapp",
        "contacts": [contact],
        "messages": [{ "id": message.id }],
    }))
    .into_response()
}

/// What an object is asked with.
#[derive(Deserialize)]
struct Proof {
    /// The proof that the caller knows the secret of the app.
    #[serde(default)]
    appsecret_proof: Option<String>,
    /// The number that a file came to.
    #[serde(default)]
    phone_number_id: Option<String>,
}

async fn number_or_media(
    State(provider): State<Provider>,
    Path((_version, id)): Path<(String, String)>,
    Query(proof): Query<Proof>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
    match provider.media(&id) {
        Some(media) => told_media(&provider, &media, &uri, &headers),
        // Files and numbers are told apart by their ids alone. One that was deleted is neither.
        None if proof.phone_number_id.is_some() => missing(&id),
        None => number(&provider, id, proof, &headers),
    }
}

/// Tells where a file is.
fn told_media(provider: &Provider, media: &KeptMedia, uri: &Uri, headers: &HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    // Below the path of the API, which ends before the version and the id.
    let below = uri.path().rsplitn(3, '/').nth(2).unwrap_or_default();
    let mut url = format!("http://{host}{below}/media/{}", media.id);
    if provider.media_fault(&[MediaFault::ForeignHost]).is_some() {
        url = format!("https://elsewhere.example/media/{}", media.id);
    }
    Json(json!({ "messaging_product": "whatsapp", "url": url, "mime_type": media.mime_type, "sha256": media.sha256(),
        "file_size": media.content.len().to_string(), "id": media.id }))
    .into_response()
}

async fn media_content(
    State(provider): State<Provider>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let Some(media) = provider.media(&id) else { return StatusCode::NOT_FOUND.into_response() };
    let content_type = [(header::CONTENT_TYPE, media.mime_type.clone())];
    match provider.media_fault(&[
        MediaFault::Unavailable,
        MediaFault::Expired,
        MediaFault::Damaged,
        MediaFault::Broken,
    ]) {
        Some(MediaFault::Unavailable) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Some(MediaFault::Expired) => StatusCode::NOT_FOUND.into_response(),
        Some(MediaFault::Damaged) => (content_type, "something else").into_response(),
        Some(MediaFault::Broken) => broken(),
        Some(MediaFault::ForeignHost) | None => (content_type, media.content.clone()).into_response(),
    }
}

async fn upload(
    State(provider): State<Provider>,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
    let Ok(mut form) = form else { return refusal(100, "The body is no multipart form.", None) };
    let (mut is_whatsapp, mut file) = (false, None);
    while let Ok(Some(field)) = form.next_field().await {
        match field.name() {
            Some("messaging_product") => {
                is_whatsapp = field.text().await.is_ok_and(|text| text == "whatsapp")
            }
            Some("file") => {
                let mime_type = field.content_type().unwrap_or("application/octet-stream").to_owned();
                let name = field.file_name().map(str::to_owned);
                let Ok(content) = field.bytes().await else {
                    return refusal(131_053, "Media upload error", None);
                };
                file = Some((mime_type, name, content));
            }
            _ => {}
        }
    }
    if !is_whatsapp {
        return refusal(100, "(#100) The parameter messaging_product is required.", None);
    }
    let Some((mime_type, name, content)) = file else {
        return refusal(100, "(#100) The parameter file is required.", None);
    };
    Json(json!({ "id": provider.add_media(&mime_type, name, content) })).into_response()
}

async fn delete_media(
    State(provider): State<Provider>,
    Path((_version, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
    if provider.delete_media(&id) { Json(json!({ "success": true })).into_response() } else { missing(&id) }
}

fn number(provider: &Provider, number: String, proof: Proof, headers: &HeaderMap) -> Response {
    let secret = provider.state().config.app_secret.clone();
    let expected = token_of(headers).map(|token| keyed_digest(&secret, token.as_bytes()));
    if proof.appsecret_proof.is_some_and(|proof| Some(proof) != expected) {
        return refusal(100, "Invalid appsecret_proof provided in the API argument", None);
    }
    Json(json!({ "id": number, "display_phone_number": number, "quality_rating": "GREEN" })).into_response()
}

/// What a page of templates is asked with.
#[derive(Deserialize)]
struct Paged {
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

async fn list_templates(
    State(provider): State<Provider>,
    Path((_version, account)): Path<(String, String)>,
    Query(paged): Query<Paged>,
    headers: HeaderMap,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
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

async fn create_template(
    State(provider): State<Provider>,
    Path((_version, account)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
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

/// The answer where an object is not there.
fn missing(id: &str) -> Response {
    let error = json!({ "error": { "message": format!("Unsupported get request. Object with ID '{id}' does not exist"),
        "type": "GraphMethodException", "code": 100, "error_subcode": 33, "fbtrace_id": "simulator" } });
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

fn is_let_in(provider: &Provider, headers: &HeaderMap) -> bool {
    let state = provider.state();
    token_of(headers).is_some_and(|token| {
        state.config.access_token.as_ref().is_none_or(|known| known.expose_secret() == token)
    })
}

fn token_of(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.strip_prefix("Bearer ")).filter(|token| !token.is_empty())
}

async fn subscribed_apps(
    State(provider): State<Provider>,
    Path((_version, account)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
    if !is_account(&provider, &account) {
        return missing(&account);
    }
    let hears = provider.state().config.callback.is_some();
    let app = json!({ "whatsapp_business_api_data": { "id": "1", "name": "Simulator" } });
    Json(json!({ "data": if hears { vec![app] } else { Vec::new() } })).into_response()
}

/// The public key of a number, as a form of the call.
#[derive(Deserialize)]
struct GivenKey {
    business_public_key: String,
}

async fn set_form_key(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    headers: HeaderMap,
    given: Result<Form<GivenKey>, FormRejection>,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
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

async fn form_key(
    State(provider): State<Provider>,
    Path((_version, number)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_let_in(&provider, &headers) {
        return refusal(190, "Invalid OAuth access token", None);
    }
    let told = provider
        .form_key(&number)
        .map(|key| json!({ "business_public_key": key, "business_public_key_signature_status": "VALID" }));
    Json(json!({ "data": Vec::from_iter(told) })).into_response()
}

/// Returns the message that a call says was read, and whether it shows that somebody types.
fn read_receipt(body: &[u8]) -> Option<(String, bool)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let is_read = body["status"] == "read" && body["messaging_product"] == "whatsapp";
    let id = body["message_id"].as_str().filter(|_| is_read)?;
    Some((id.to_owned(), body["typing_indicator"].is_object()))
}

/// Returns the content of a call that sends, with its `type`.
fn content_of(body: &Value) -> Value {
    let kind = body["type"].as_str().unwrap_or("text");
    json!({ "type": kind, kind: body[kind] })
}

/// Returns the phone that a message goes to, and its body.
fn read(body: &[u8]) -> Result<(String, Value), String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if body["messaging_product"] != "whatsapp" {
        return Err("(#100) The parameter messaging_product is required.".to_owned());
    }
    let to = match (body["to"].as_str(), body["recipient"].as_str()) {
        (Some(number), _) => phone_digits(number).ok_or("(#100) Invalid parameter: to")?,
        (None, Some(user)) if is_user_id(user) => user.to_owned(),
        _ => return Err("(#100) The parameter to is required.".to_owned()),
    };
    let kind = body["type"].as_str().unwrap_or("text");
    if !KINDS.contains(&kind) {
        return Err(format!("(#100) Param type must be one of {{{}}}", KINDS.join(", ").to_uppercase()));
    }
    if !(body[kind].is_object() || kind == "contacts" && body[kind].is_array()) {
        return Err(format!("(#131008) The parameter {kind} is required."));
    }
    if kind == "text"
        && !body["text"]["body"].as_str().is_some_and(|text| (1..=4_096).contains(&text.chars().count()))
    {
        return Err("(#100) Param text['body'] must be at most 4096 characters long.".to_owned());
    }
    Ok((to, body))
}

fn refusal(code: i64, details: &str, retry_after: Option<u64>) -> Response {
    let status = match code {
        190 => StatusCode::UNAUTHORIZED,
        4 | 80_007 | 130_429 => StatusCode::TOO_MANY_REQUESTS,
        1 | 2 | 131_000 | 131_016 => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    let error = json!({ "error": { "message": format!("(#{code}) {details}"), "type": "OAuthException", "code": code,
        "error_data": { "messaging_product": "whatsapp", "details": details }, "fbtrace_id": "simulator" } });
    let mut answer = (status, Json(error)).into_response();
    if let Some(seconds) = retry_after {
        answer.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// An answer that breaks off before its end.
fn broken() -> Response {
    let parts = [Ok(Bytes::from_static(b"{")), Err(std::io::Error::other("the connection ends"))];
    axum::body::Body::from_stream(futures_util::stream::iter(parts)).into_response()
}
