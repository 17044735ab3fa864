//! `PUT /knowledge-documents/{id}/file`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{Document, DocumentId};
use utoipa::IntoParams;

use super::file::SentFile;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::Query;
use crate::api::reply::Reply;
use crate::api::state::Knowledge;
use crate::api::upload::Filename;

/// What the file is.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct FileParams {
    /// The name of the file. Its ending tells what it is, if `Content-Type` does not.
    #[param(max_length = 255, example = "menu.pdf")]
    filename: Option<String>,
}

/// Replace the content of a document by a file
///
/// The body is the file, as at `POST /knowledge-documents/files`. The document is not found until it has been read and embedded.
#[utoipa::path(
    put, path = "/knowledge-documents/{id}/file", tag = "knowledge",
    params(("id" = DocumentId, Path, description = "The document"), FileParams),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The file"),
    responses(
        (status = 200, description = "The document", body = Document),
        (status = 413, description = "`payload_too_large`: more than 20 MiB"),
        (status = 422, description = "`knowledge_empty`; `knowledge_too_large`; `knowledge_type_refused`; \
            `knowledge_type_mismatch`; `knowledge_charset`"),
    )
)]
pub(super) async fn upload_knowledge_content(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    PathId(id): PathId<DocumentId>,
    Query(filename): Query<Filename>,
    mut file: SentFile,
) -> Result<Reply<Document>, ApiError> {
    let _place = file.place.take();
    // Whoever cannot see the document is told so, whatever they send.
    knowledge.get(can.reach(), &id).await?;
    let content = file.content(filename).await?;
    Ok(Reply(knowledge.replace_by_file(&can.caller.author(), can.reach(), &id, content).await?))
}
