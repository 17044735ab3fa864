//! `GET /flows/schema`.

use axum::response::{IntoResponse as _, Response};
use flowsdk_core::flow::definition::json_schema;
use http::header;

use crate::api::guard::{Can, marks};
use crate::api::reply;

/// The JSON Schema of definitions
///
/// For editors and generators (2020-12). A definition that fits it can be read; validation finds the rest.
#[utoipa::path(
    get, path = "/flows/schema", tag = "flows",
    responses((status = 200, description = "The schema", body = Value, content_type = "application/schema+json"))
)]
pub(super) async fn flow_schema(_can: Can<marks::Flows, marks::Read>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/schema+json")];
    (kind, reply::json(http::StatusCode::OK, &json_schema())).into_response()
}
