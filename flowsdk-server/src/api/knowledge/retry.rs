//! `POST /knowledge-documents/{id}/retry`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{Document, DocumentId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Knowledge;

/// Read a document once more
///
/// For one that failed and whose cause is mended, such as the credential of its router. It is read and embedded from its
/// beginning.
#[utoipa::path(
    post, path = "/knowledge-documents/{id}/retry", tag = "knowledge",
    params(("id" = DocumentId, Path, description = "The document")),
    responses((status = 200, description = "The document", body = Document))
)]
pub(super) async fn retry_knowledge_document(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    PathId(id): PathId<DocumentId>,
) -> Result<Reply<Document>, ApiError> {
    Ok(Reply(knowledge.retry(&can.caller.author(), can.reach(), &id).await?))
}
