//! The one error body: `{ code, message, details?, requestId }`.

use axum::Json;
use axum::response::{IntoResponse, Response};
use flowsdk_core::fault::{Chain, Fault, FaultKind};
use http::StatusCode;
use serde_json::json;

/// An error as a client sees it.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl ApiError {
    /// An error of this kind.
    pub fn new(kind: FaultKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { status: status(kind), code, message: message.into() }
    }

    /// A fault as a client sees it; ours are logged with their sources, once.
    pub fn of(fault: &(impl Fault + 'static)) -> Self {
        if matches!(fault.kind(), FaultKind::Internal | FaultKind::Unavailable) {
            tracing::error!(code = fault.code(), error = %Chain(fault), "a request failed");
        }
        Self::new(fault.kind(), fault.code(), fault.text().portuguese())
    }
}

fn status(kind: FaultKind) -> StatusCode {
    match kind {
        FaultKind::Invalid => StatusCode::BAD_REQUEST,
        FaultKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        FaultKind::Forbidden => StatusCode::FORBIDDEN,
        FaultKind::NotFound => StatusCode::NOT_FOUND,
        FaultKind::Conflict => StatusCode::CONFLICT,
        FaultKind::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        FaultKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        FaultKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        FaultKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = json!({ "code": self.code, "message": self.message, "requestId": super::request::id() });
        (self.status, Json(body)).into_response()
    }
}

/// The answer for every unknown path.
pub async fn not_found() -> ApiError {
    ApiError::new(FaultKind::NotFound, "not_found", "Não encontrado")
}

/// The answer when a handler panicked; the panic itself is in the log.
pub fn panicked(_panic: Box<dyn std::any::Any + Send>) -> Response {
    ApiError::new(FaultKind::Internal, "internal", "Erro interno").into_response()
}

/// The answer for a method that a path does not know.
pub async fn method_not_allowed() -> ApiError {
    ApiError {
        status: StatusCode::METHOD_NOT_ALLOWED,
        code: "method_not_allowed",
        message: "Método não permitido".to_owned(),
    }
}
