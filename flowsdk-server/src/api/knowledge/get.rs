//! `GET /knowledge-documents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{Document, DocumentId};

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Knowledge;

/// Show a document
#[utoipa::path(
    get, path = "/knowledge-documents/{id}", tag = "knowledge",
    params(("id" = DocumentId, Path, description = "The document")),
    responses((status = 200, description = "The document", body = Document))
)]
pub(super) async fn get_knowledge_document(
    can: Can<marks::Flows, marks::Read>,
    State(knowledge): State<Arc<Knowledge>>,
    PathId(id): PathId<DocumentId>,
) -> Result<Reply<Document>, ApiError> {
    Ok(Reply(knowledge.get(can.reach(), &id).await?))
}
