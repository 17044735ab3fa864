//! `DELETE /knowledge-documents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::DocumentId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::state::Knowledge;

/// Delete a document
#[utoipa::path(
    delete, path = "/knowledge-documents/{id}", tag = "knowledge",
    params(("id" = DocumentId, Path, description = "The document")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_knowledge_document(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    PathId(id): PathId<DocumentId>,
) -> Result<StatusCode, ApiError> {
    knowledge.delete(&can.caller.author(), can.reach(), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
