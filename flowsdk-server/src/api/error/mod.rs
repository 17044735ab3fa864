//! The one error body: `{ code, message, details?, requestId }` (rulings H2).

mod codes;
mod problem;

pub use codes::CODES;
pub use problem::{Problem, Problems};

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use flowsdk_core::fault::{Chain, Fault, FaultKind, INTERNAL, RateLimit};
use flowsdk_core::text::Text;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use super::guard::Beyond;
use super::{limits, reply, request};

/// Most details of a fault that an answer shows; one more says how many there are beyond them.
const MOST_DETAILS: usize = 1_000;

/// An error as a client sees it.
#[derive(Debug)]
pub struct ApiError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    code: &'static str,
    message: Text,
    details: Vec<Problem>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail<'a>>,
    request_id: &'a str,
}

#[derive(Serialize)]
struct Detail<'a> {
    field: &'a str,
    message: &'a str,
}

impl ApiError {
    /// An error with this status and one of [`CODES`].
    pub fn new(status: StatusCode, code: &'static str, message: Text) -> Self {
        debug_assert!(CODES.contains(&code), "{code} is not in the catalogue");
        Self(Box::new(Inner { status, code, message, details: Vec::new(), headers: Vec::new() }))
    }

    /// A fault as a client sees it; ours are logged with their sources, once.
    pub fn of(fault: &(impl Fault + 'static)) -> Self {
        if matches!(fault.kind(), FaultKind::Internal | FaultKind::Unavailable) {
            let request = super::request::named();
            tracing::error!(request, code = fault.code(), error = %Chain(fault), "a request failed");
        }
        let mut error = Self::new(status(fault.kind()), fault.code(), fault.text());
        error.0.details.extend(fault.field().map(|field| Problem::new(field, fault.text())));
        let mut details = fault.details();
        let left_out = details.len().saturating_sub(MOST_DETAILS);
        details.truncate(MOST_DETAILS);
        error.0.details.extend(details.into_iter().map(|(field, text)| Problem::new(field, text)));
        error.0.details.extend((left_out > 0).then(|| Problem::new("", more(left_out))));
        match fault.rate_limit() {
            Some(limit) => error.rate_limited(limit),
            None => error,
        }
    }

    /// Input that does not fit its schema, with the problems field by field (rulings H5).
    pub fn invalid(problems: Problems) -> Self {
        let text = Text::new("Dados inválidos", "Invalid data");
        let mut error = Self::new(StatusCode::BAD_REQUEST, "validation_failed", text);
        error.0.details = problems.into_list();
        error
    }

    /// Nothing is known under this path.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", Text::new("Não encontrado", "Not found"))
    }

    /// A fault of ours that was logged already.
    pub fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", INTERNAL)
    }

    /// The same error with one header more.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.0.headers.push((name, value.into()));
        self
    }

    /// The same error, to be tried again after `wait` and not before.
    #[must_use]
    pub fn retry_after(self, wait: Duration) -> Self {
        self.with_header(header::RETRY_AFTER, in_seconds(wait))
    }

    /// Adds the limit that was reached, with no request left in it (rulings H10).
    fn rate_limited(self, limit: RateLimit) -> Self {
        let wait = in_seconds(limit.retry_after);
        self.retry_after(limit.retry_after)
            .with_header(limits::LIMIT, limit.limit)
            .with_header(limits::REMAINING, 0)
            .with_header(limits::RESET, wait)
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns the stable code for clients.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// Returns the text that clients see.
    pub fn text(&self) -> &Text {
        &self.0.message
    }

    /// Returns the problems field by field.
    pub fn details(&self) -> &[Problem] {
        &self.0.details
    }
}

impl<F: Fault + 'static> From<F> for ApiError {
    fn from(fault: F) -> Self {
        Self::of(&fault)
    }
}

fn more(count: usize) -> Text {
    Text::of(format!("E mais {count}"), format!("And {count} more"))
}

/// Rounded up: one who comes back exactly then must not be early.
fn in_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
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
        FaultKind::BadGateway => StatusCode::BAD_GATEWAY,
        FaultKind::GatewayTimeout => StatusCode::GATEWAY_TIMEOUT,
        FaultKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Inner { status, code, message, details, headers } = *self.0;
        let (id, language) = request::facts();
        let details: Vec<(String, _)> =
            details.into_iter().map(|one| (one.field, one.message.into_language(language))).collect();
        let body = Body {
            code,
            message: &message.into_language(language),
            details: details.iter().map(|(field, message)| Detail { field, message }).collect(),
            request_id: id.to_str().unwrap_or_default(),
        };
        let mut response = reply::json(status, &body);
        response.headers_mut().extend(headers);
        if let Some(beyond) = Beyond::of(status, code) {
            response.extensions_mut().insert(beyond);
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// The answer for every unknown path.
pub async fn not_found() -> ApiError {
    ApiError::not_found()
}

/// The answer for a method that a path does not know; axum adds `Allow`.
pub async fn method_not_allowed() -> ApiError {
    let text = Text::new("Método não permitido", "Method not allowed");
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", text)
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;
