//! `/phone/webhook`: the deliveries of the provider, and its check that the address is ours.
//!
//! One address serves all numbers. The one with a router at its end takes what is about that router alone.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, RawPathParams, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, RequestExt as _, Router};
use flowsdk_channels::phone::webhook::SIGNATURE_HEADER;
use flowsdk_channels::phone::{IntakeError, PhoneIntake, Taken};
use flowsdk_core::id::RouterId;
use flowsdk_core::text::Text;
use flowsdk_store::sql::SqlStore;
use http::{Extensions, HeaderMap, StatusCode, header};
use serde::{Deserialize, Serialize};

use crate::api::ApiError;
use crate::api::body::any_bytes;

/// Most bytes of a delivery (WhatsApp Business Platform, "Webhooks": 3 MB).
const MAX_BODY: usize = 3 << 20;

/// What the routes need.
#[derive(Clone)]
struct Gateway {
    intake: Arc<PhoneIntake<SqlStore>>,
    trusted_proxies: u32,
}

/// Returns the routes of the webhook.
pub(crate) fn routes(intake: Arc<PhoneIntake<SqlStore>>, trusted_proxies: u32) -> Router {
    Router::new()
        .route("/phone/webhook", get(verify).post(take))
        .route("/phone/webhook/{router_id}", get(verify).post(take))
        .with_state(Gateway { intake, trusted_proxies })
}

/// What the provider asks before it delivers anything.
#[derive(Debug, Deserialize)]
struct Verification {
    #[serde(rename = "hub.mode", default)]
    mode: String,
    #[serde(rename = "hub.verify_token", default)]
    token: String,
    #[serde(rename = "hub.challenge", default)]
    challenge: String,
}

async fn verify(
    State(gateway): State<Gateway>,
    path: RawPathParams,
    headers: HeaderMap,
    extensions: Extensions,
    asked: Result<Query<Verification>, QueryRejection>,
) -> Result<Response, ApiError> {
    let router = router_of(&path)?;
    let caller = crate::caller::address(&headers, &extensions, gateway.trusted_proxies);
    let Some(Query(asked)) = asked.ok().filter(|asked| asked.mode == "subscribe") else {
        return Err(IntakeError::Unverified.into());
    };
    let checked = gateway.intake.verify(router.as_ref(), &asked.token, caller).await;
    checked.map_err(|error| refused(error, caller))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], asked.challenge).into_response())
}

/// Takes a delivery. The request is taken apart here, because an extractor of each part would copy all headers.
async fn take(State(gateway): State<Gateway>, mut request: Request) -> Result<Response, ApiError> {
    let path = request.extract_parts::<RawPathParams>().await.map_err(|_| ApiError::not_found())?;
    let router = router_of(&path)?;
    if is_encoded(request.headers()) {
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", ENCODED));
    }
    let caller = crate::caller::address(request.headers(), request.extensions(), gateway.trusted_proxies);
    let signature = request.headers().get(SIGNATURE_HEADER).cloned();
    let body = any_bytes(request, MAX_BODY).await?;
    let signature = signature.as_ref().and_then(|value| value.to_str().ok());
    let taken = gateway.intake.take(router.as_ref(), signature, &body, caller).await;
    let taken = taken.map_err(|error| refused(error, caller))?;
    Ok(match taken.refused {
        0 => StatusCode::OK.into_response(),
        _ => Json(PartlyTaken::from(taken)).into_response(),
    })
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// What was taken of a delivery of which something was left out. The provider looks at the status alone; people who try the
/// webhook look at this.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PartlyTaken {
    messages: usize,
    statuses: usize,
    left_out: usize,
}

impl From<Taken> for PartlyTaken {
    fn from(Taken { messages, statuses, refused }: Taken) -> Self {
        Self { messages, statuses, left_out: refused }
    }
}

/// Returns the answer to a request that is refused. The log says why, for whoever sets the address up.
fn refused(error: IntakeError, caller: IpAddr) -> ApiError {
    tracing::info!(%caller, reason = %error, "a request of the phone provider is refused");
    let is_limit = matches!(error, IntakeError::TooMany);
    let answer = ApiError::from(error);
    if is_limit { answer.retry_after(LIMIT_PERIOD) } else { answer }
}

/// Returns the router that the address names, if it names one; a text that is no id names none that there is.
fn router_of(path: &RawPathParams) -> Result<Option<RouterId>, ApiError> {
    let named = path.iter().next().map(|(_, text)| RouterId::parse(text));
    named.transpose().map_err(|_| ApiError::not_found())
}

/// The period of the limit of callers.
const LIMIT_PERIOD: Duration = Duration::from_secs(60);
const ENCODED: Text = Text::new("O corpo não pode ser comprimido", "The body must not be compressed");
