//! The errors that many operations can give.

use serde_json::json;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{Content, ContentBuilder, Header, Ref, RefOr, Response};
use utoipa::{PartialSchema as _, ToSchema};

use crate::api::error::CODES;

/// A code of the catalogue.
pub(super) struct ErrorCode;

impl utoipa::PartialSchema for ErrorCode {
    fn schema() -> RefOr<Schema> {
        let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(CODES.iter().copied()));
        code.description(Some("Stable, to branch on.")).build().into()
    }
}

impl ToSchema for ErrorCode {}

/// Every error of the API.
#[derive(ToSchema)]
#[schema(as = Error)]
#[allow(dead_code, reason = "the document is made of it")]
struct ErrorBody {
    code: ErrorCode,
    /// For people, in the language of `Accept-Language`.
    #[schema(example = "Invalid data")]
    message: String,
    /// The problems, field by field.
    #[schema(required = false)]
    details: Vec<ErrorDetail>,
    /// As in the header `x-request-id` and in the log.
    #[schema(rename = "requestId", example = "cmi7w0q2p00000qx1b3k9z5ra")]
    request_id: String,
}

/// A problem of one field.
#[derive(ToSchema)]
#[allow(dead_code, reason = "the document is made of it")]
struct ErrorDetail {
    /// As the client writes it.
    #[schema(example = "permissions[0].resource")]
    field: String,
    /// For people.
    #[schema(example = "Required field")]
    message: String,
}

/// Status, name, when it happens, and an example's code and message.
const COMMON: [(u16, &str, &str, &str, &str); 9] = [
    (
        400,
        "Invalid",
        "Body, query or headers do not fit their schema",
        "validation_failed",
        "Dados inválidos",
    ),
    (401, "Unauthenticated", "No token, or one that does not count", "token_invalid", "Token JWT inválido"),
    (403, "Forbidden", "The caller may not do this", "permission_denied", "Sem permissão"),
    (404, "NotFound", "Nothing within reach has this id", "not_found", "Não encontrado"),
    (
        413,
        "TooLarge",
        "The body is too large",
        "payload_too_large",
        "O corpo pode ter no máximo 1048576 bytes",
    ),
    (415, "NotJson", "The body is no JSON", "unsupported_media_type", "O conteúdo deve ser application/json"),
    (429, "TooMany", "Too many requests", "rate_limited", "Muitas requisições; tente novamente mais tarde"),
    (500, "Internal", "A fault of the server", "internal", "Erro interno"),
    (503, "Unavailable", "Something needed is away; try again", "unavailable", "Serviço indisponível"),
];

/// The name of a common error's response.
pub(super) fn name(status: u16) -> &'static str {
    COMMON.iter().find(|common| common.0 == status).map_or("Internal", |common| common.1)
}

/// The common errors by their names.
pub(super) fn common() -> impl Iterator<Item = (String, RefOr<Response>)> {
    COMMON.into_iter().map(|(status, name, when, code, message)| {
        let example = json!({ "code": code, "message": message, "requestId": "cmi7w0q2p00000qx1b3k9z5ra" });
        let mut content = content();
        content.example = Some(example);
        let response = ResponseBuilder::new().description(when).content("application/json", content);
        let response = match status {
            401 => response.header("WWW-Authenticate", text_header("`Bearer`")),
            429 => response.header("Retry-After", seconds("Until it is worth trying again")),
            _ => response,
        };
        (name.to_owned(), response.build().into())
    })
}

/// The body of an error.
pub(super) fn content() -> Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build()
}

fn text_header(description: &str) -> Header {
    let text = ObjectBuilder::new().schema_type(Type::String);
    HeaderBuilder::new().schema(Some(text)).description(Some(description)).build()
}

fn seconds(description: &str) -> Header {
    let number = ObjectBuilder::new().schema_type(Type::Integer);
    HeaderBuilder::new().schema(Some(number)).description(Some(format!("{description}, in seconds"))).build()
}

/// The schemas of the error body.
pub(super) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    ErrorBody::schemas(&mut schemas);
    schemas.push((ErrorBody::name().into_owned(), ErrorBody::schema()));
    schemas
}
