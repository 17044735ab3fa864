//! `/simulator`: tells the provider what to do, and shows what is on the phones.

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use flowsdk_core::contact::{is_phone_number, is_user_id};
use flowsdk_core::fault::Chain;
use flowsdk_core::media::plain_type;
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::disorder::Disorder;
use super::fault::{CallKind, Fault};
use super::form::{Answered, Asked};
use super::limits::Limits;
use super::media::{MOST, MediaFault, SentFile};
use super::phone::Screen;
use super::provider::{Provider, SentMessage};
use super::template::{KeptTemplate, Review};

pub(super) fn routes(provider: Provider) -> Router {
    Router::new()
        .route("/simulator/messages", get(sent))
        .route("/simulator/faults", post(fail))
        .route("/simulator/disorder", post(disturb))
        .route("/simulator/limits", post(limit))
        .route("/simulator/templates", get(templates))
        .route("/simulator/templates/{id}/review", post(review))
        .route("/simulator/numbers/{number}/phones/{phone}/messages", get(screen).post(say))
        .route("/simulator/numbers/{number}/phones/{phone}/taps", post(tap))
        .route("/simulator/numbers/{number}/phones/{phone}/read", post(read))
        .route(
            "/simulator/numbers/{number}/phones/{phone}/files",
            post(say_file).layer(DefaultBodyLimit::max(MOST)),
        )
        .route("/simulator/media/{id}", get(media))
        .route("/simulator/media-faults", post(fail_media))
        .route("/simulator/numbers/{number}/forms", post(ask_form))
        .with_state(provider)
        .layer(from_fn(own_pages_only))
}

/// Why a call is refused, in words.
type Wrong = (StatusCode, &'static str);

/// What a phone writes: a `text`, or a whole message with its `type`.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    message: Option<Value>,
}

/// The version of a screen that a page has.
#[derive(Deserialize)]
struct Known {
    #[serde(default)]
    version: Option<i64>,
}

/// A screen, with what stands above it.
#[derive(Serialize)]
struct Named {
    business: String,
    about: Option<String>,
    /// The beginning of the endpoints of forms, for whoever fills one in.
    #[serde(rename = "formsEndpoint")]
    forms_endpoint: Option<String>,
    #[serde(flatten)]
    screen: Screen,
}

async fn sent(State(provider): State<Provider>) -> Json<Vec<SentMessage>> {
    Json(provider.sent())
}

/// A fault, and the calls that it is for.
#[derive(Deserialize)]
struct FaultBody {
    #[serde(default)]
    call: CallKind,
    #[serde(flatten)]
    fault: Fault,
}

async fn fail(State(provider): State<Provider>, Json(body): Json<FaultBody>) -> Result<StatusCode, Wrong> {
    let FaultBody { call, fault } = body;
    if call != CallKind::Send && matches!(fault, Fault::FailStatus { .. }) {
        return Err((
            StatusCode::BAD_REQUEST,
            "fail_status is for calls that send: leave call out, or make it send",
        ));
    }
    provider.fail_next_of(call, fault);
    Ok(StatusCode::NO_CONTENT)
}

async fn disturb(
    State(provider): State<Provider>,
    Json(disorder): Json<Disorder>,
) -> Result<StatusCode, Wrong> {
    if !disorder.is_bounded() {
        return Err((StatusCode::BAD_REQUEST, "holds is at most 100, and repeats at most 10"));
    }
    provider.disturb(disorder);
    Ok(StatusCode::NO_CONTENT)
}

async fn limit(State(provider): State<Provider>, Json(limits): Json<Limits>) -> StatusCode {
    provider.limit(limits);
    StatusCode::NO_CONTENT
}

/// The templates of the account, with their ids.
async fn templates(State(provider): State<Provider>) -> Json<Vec<KeptTemplate>> {
    Json(provider.templates(None, usize::MAX).0)
}

async fn review(
    State(provider): State<Provider>,
    Path(id): Path<String>,
    Json(review): Json<Review>,
) -> Result<StatusCode, Wrong> {
    if !review.is_known() {
        let text = "the provider has no such event; it has such as APPROVED, REJECTED, PAUSED or DISABLED";
        return Err((StatusCode::BAD_REQUEST, text));
    }
    if provider.review(&id, &review) {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err((StatusCode::NOT_FOUND, "no such template: GET /simulator/templates lists them with their ids"))
}

async fn screen(
    State(provider): State<Provider>,
    Path((number, phone)): Path<(String, String)>,
    Query(known): Query<Known>,
) -> Response {
    let screen = provider.screen(&number, &phone);
    if known.version.is_some_and(|version| u64::try_from(version) == Ok(screen.version)) {
        return StatusCode::NO_CONTENT.into_response();
    }
    let business = provider.state().config.business.clone();
    let about = provider.profile(&number).about;
    let forms_endpoint = provider.forms_endpoint().map(String::from);
    Json(Named { business, about, forms_endpoint, screen }).into_response()
}

async fn say(
    State(provider): State<Provider>,
    Path((number, phone)): Path<(String, String)>,
    Json(said): Json<Said>,
) -> Result<Json<Value>, Wrong> {
    require_phone(&phone)?;
    let message = match (said.message.filter(Value::is_object), said.text) {
        (Some(message), _) => message,
        (None, Some(text)) => json!({ "type": "text", "text": { "body": text } }),
        (None, None) => return Err((StatusCode::BAD_REQUEST, "needs a text or a message")),
    };
    let name = said.name.unwrap_or_else(|| phone.clone());
    Ok(Json(json!({ "id": provider.say(&number, &phone, &name, message) })))
}

/// A button that a phone taps.
#[derive(Deserialize)]
struct Tapped {
    #[serde(default)]
    name: Option<String>,
    /// The id of its message.
    message: String,
    /// What it says.
    title: String,
}

async fn tap(
    State(provider): State<Provider>,
    Path((number, phone)): Path<(String, String)>,
    Json(tapped): Json<Tapped>,
) -> Result<Json<Value>, Wrong> {
    let Tapped { name, message, title } = tapped;
    let name = name.as_deref().unwrap_or(&phone);
    let said = provider.tap(&number, &phone, name, &message, &title);
    said.map(|id| Json(json!({ "id": id }))).ok_or((StatusCode::NOT_FOUND, "no such message or button"))
}

fn require_phone(phone: &str) -> Result<(), Wrong> {
    if is_phone_number(phone) || is_user_id(phone) {
        return Ok(());
    }
    Err((StatusCode::BAD_REQUEST, "the phone is digits with the country code, or a user id such as BR.1"))
}

/// A phone sends the body as a file.
async fn say_file(
    State(provider): State<Provider>,
    Path((number, phone)): Path<(String, String)>,
    Query(sent): Query<SentFile>,
    headers: HeaderMap,
    content: Bytes,
) -> Result<Json<Value>, Wrong> {
    require_phone(&phone)?;
    let mime_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let mime_type = mime_type.unwrap_or("application/octet-stream");
    Ok(Json(json!({ "id": provider.say_file(&number, &phone, sent, mime_type, content) })))
}

/// The content of a file, for the page of the phone that sent it.
async fn media(State(provider): State<Provider>, Path(id): Path<String>) -> Response {
    let Some(media) = provider.media(&id) else {
        return (StatusCode::NOT_FOUND, "no such file").into_response();
    };
    let shown = plain_type(&media.mime_type).filter(|mime_type| {
        let is_of = |class: &str| mime_type.starts_with(class);
        ["image/", "audio/", "video/"].into_iter().any(is_of) && mime_type != "image/svg+xml"
    });
    let content_type = shown.as_deref().unwrap_or("application/octet-stream");
    let head = [(header::CONTENT_TYPE, content_type), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (head, media.content.clone()).into_response()
}

/// What goes wrong with a file.
#[derive(Deserialize)]
struct MediaFaultBody {
    fault: MediaFault,
}

async fn fail_media(State(provider): State<Provider>, Json(body): Json<MediaFaultBody>) -> StatusCode {
    provider.fail_media_next(body.fault);
    StatusCode::NO_CONTENT
}

async fn read(State(provider): State<Provider>, Path((number, phone)): Path<(String, String)>) -> StatusCode {
    provider.read(&number, &phone);
    StatusCode::NO_CONTENT
}

async fn ask_form(
    State(provider): State<Provider>,
    Path(number): Path<String>,
    Json(asked): Json<Asked>,
) -> Result<Json<Answered>, (StatusCode, String)> {
    let answered = provider.ask_form(&number, &asked).await;
    answered.map(Json).map_err(|error| (StatusCode::BAD_REQUEST, Chain(&*error).to_string()))
}

/// Refuses requests of pages of other origins, which a browser at this machine may show.
async fn own_pages_only(request: Request, next: Next) -> Response {
    if is_of_another_page(request.headers()) {
        return (StatusCode::FORBIDDEN, "for pages of this address only").into_response();
    }
    next.run(request).await
}

fn is_of_another_page(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let other_site = text("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let authority = |origin: &str| Some(origin.parse::<Uri>().ok()?.authority()?.clone());
    let own = text(header::HOST.as_str()).and_then(|host| host.parse::<Authority>().ok());
    let other_origin = headers.contains_key(header::ORIGIN)
        && text(header::ORIGIN.as_str()).and_then(authority).is_none_or(|origin| Some(origin) != own);
    other_site || other_origin
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    async fn answered(provider: &Provider, request: http::request::Builder, body: &Value) -> (u16, String) {
        let request = request.header("content-type", "application/json").body(Body::from(body.to_string()));
        let answer = routes(provider.clone()).oneshot(request.expect("a request")).await.expect("an answer");
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn what_is_wrong_is_said_in_words() {
        let provider = Provider::of_tests(None);
        let event = |event: &str| json!({ "event": event });
        let fault = json!({ "kind": "fail_status", "code": 1, "call": "media" });
        for (path, body, status, word) in [
            ("/simulator/faults", fault, 400, "fail_status is for"),
            ("/simulator/disorder", json!({ "holds": 101 }), 400, "at most 100"),
            ("/simulator/templates/1/review", event("LIKED"), 400, "no such event"),
            ("/simulator/templates/1/review", event("APPROVED"), 404, "no such template"),
        ] {
            let (answered, text) = answered(&provider, Request::post(path), &body).await;
            assert!(answered == status && text.contains(word), "{path} {body}: {answered} {text}");
        }
    }

    #[tokio::test]
    async fn a_screen_says_where_the_server_has_its_forms() {
        for (callback, endpoint) in [
            (Some("http://127.0.0.1:9/phone/webhook"), json!("http://127.0.0.1:9/phone/forms/")),
            (Some("https://example.com/api/phone/webhook"), json!("https://example.com/api/phone/forms/")),
            (None, Value::Null),
        ] {
            let provider = Provider::of_tests(callback.map(|url| url.parse().expect("a URL")));
            let request = Request::get("/simulator/numbers/111/phones/1/messages");
            let (_, screen) = answered(&provider, request, &Value::Null).await;
            let screen: Value = serde_json::from_str(&screen).expect("JSON");
            assert_eq!(screen["formsEndpoint"], endpoint);
        }
    }

    #[test]
    fn a_fault_is_for_messages_unless_it_says_otherwise() {
        for (body, call, fault) in [
            (json!({ "kind": "drop" }), CallKind::Send, Fault::Drop),
            (json!({ "kind": "lose_answer", "call": "key" }), CallKind::Key, Fault::LoseAnswer),
            (
                json!({ "kind": "refuse", "code": 100, "retry_after": 9, "call": "template" }),
                CallKind::Template,
                Fault::Refuse { code: 100, retry_after: Some(9) },
            ),
        ] {
            let read: FaultBody = serde_json::from_value(body).expect("a fault");
            assert_eq!((read.call, read.fault), (call, fault));
        }
        assert!(serde_json::from_value::<FaultBody>(json!({ "kind": "drop", "call": "other" })).is_err());
    }

    #[test]
    fn pages_of_other_origins_are_told_apart() {
        for (headers, other) in [
            (&[("host", "127.0.0.1:8080")][..], false),
            (&[("host", "127.0.0.1:8080"), ("origin", "http://127.0.0.1:8080")], false),
            (&[("host", "127.0.0.1:8080"), ("sec-fetch-site", "same-origin")], false),
            (&[("host", "127.0.0.1:8080"), ("sec-fetch-site", "none")], false),
            (&[("host", "127.0.0.1:8080"), ("sec-fetch-site", "cross-site")], true),
            (&[("host", "127.0.0.1:8080"), ("sec-fetch-site", "same-site")], true),
            (&[("host", "127.0.0.1:8080"), ("origin", "https://elsewhere.example")], true),
            (&[("host", "127.0.0.1:8080"), ("origin", "null")], true),
            (&[("origin", "http://127.0.0.1:8080")], true),
        ] {
            let map: HeaderMap = headers
                .iter()
                .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
                .collect();
            assert_eq!(is_of_another_page(&map), other, "{headers:?}");
        }
    }
}
