//! `/phone/forms/{formId}`: what interactive forms ask while they are open (WhatsApp Flows, "Implementing Endpoints for
//! Flows").

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use flowsdk_channels::form::{FormEndpoint, FormEndpointError, FormId};
use flowsdk_channels::phone::webhook::SIGNATURE_HEADER;
use flowsdk_core::fault::Chain;
use flowsdk_core::text::Text;
use flowsdk_store::sql::SqlStore;
use http::{HeaderMap, StatusCode, header};

use crate::api::ApiError;
use crate::gate::{Gate, GateConfig, Key};

/// Most bytes of a question. Files that contacts choose come as addresses.
const MAX_BODY: usize = 256 << 10;

/// Most questions that are answered at once; forms take turns, so that a busy one leaves the tools of others their places.
const AT_ONCE: GateConfig = GateConfig { places: 16, waiting: 256, patience: Duration::from_secs(5) };

/// What the route needs.
#[derive(Clone)]
struct Forms {
    endpoint: Arc<FormEndpoint<SqlStore>>,
    gate: Gate,
}

/// Returns the route of the endpoint.
pub(crate) fn routes(endpoint: Arc<FormEndpoint<SqlStore>>) -> Router {
    Router::new()
        .route("/phone/forms/{form_id}", post(answer))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Forms { endpoint, gate: Gate::new(AT_ONCE) })
}

async fn answer(
    State(Forms { endpoint, gate }): State<Forms>,
    Path(form): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let form = FormId::parse(&form).map_err(|_| ApiError::not_found())?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", TOO_LARGE)
        }
        status => ApiError::new(status, "question_malformed", CUT_OFF),
    })?;
    let signature = headers.get(SIGNATURE_HEADER).and_then(|value| value.to_str().ok());
    let place = gate.enter(Key::of(&form)).await;
    let _place =
        place.map_err(|_| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", UNAVAILABLE))?;
    match endpoint.answer(&form, signature, &body).await {
        Ok(answer) => Ok(sealed(StatusCode::OK, answer)),
        Err(FormEndpointError::Expired(answer)) => Ok(sealed(token_invalid(), answer)),
        Err(error) => {
            tracing::info!(%form, reason = %Chain(&error), "a question of a form is refused");
            Err(refused(&error))
        }
    }
}

fn sealed(status: StatusCode, answer: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], answer).into_response()
}

/// The statuses tell the app of the contact what to do: 421 asks for the public key again, 427 closes the form, 432 says
/// that the signature is wrong.
fn refused(error: &FormEndpointError) -> ApiError {
    match error {
        FormEndpointError::Unknown => ApiError::not_found(),
        FormEndpointError::Unsigned | FormEndpointError::NoSecret => {
            ApiError::new(signature_mismatch(), "signature_invalid", UNSIGNED)
        }
        FormEndpointError::Undecipherable => {
            ApiError::new(StatusCode::MISDIRECTED_REQUEST, "question_undecipherable", UNDECIPHERABLE)
        }
        FormEndpointError::Storage(_) => {
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", UNAVAILABLE)
        }
        FormEndpointError::Expired(_) | FormEndpointError::Unanswered(_) => {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "form_unanswered", UNANSWERED)
        }
    }
}

/// The provider's own status for a token that counts no more.
fn token_invalid() -> StatusCode {
    StatusCode::from_u16(427).unwrap_or(StatusCode::GONE)
}

/// The provider's own status for a wrong signature.
fn signature_mismatch() -> StatusCode {
    StatusCode::from_u16(432).unwrap_or(StatusCode::FORBIDDEN)
}

const TOO_LARGE: Text = Text::new("Corpo maior que 256 KiB", "A body of more than 256 KiB");
const CUT_OFF: Text = Text::new("O corpo não chegou inteiro", "The body did not arrive as a whole");
const UNSIGNED: Text = Text::new("Assinatura inválida", "Invalid signature");
const UNDECIPHERABLE: Text =
    Text::new("A pergunta não pode ser decifrada", "The question cannot be decrypted");
const UNAVAILABLE: Text = Text::new("Indisponível no momento", "Not available now");
const UNANSWERED: Text = Text::new("O formulário não tem resposta a isto", "The form has no answer to this");
