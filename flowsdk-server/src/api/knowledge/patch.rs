//! `PATCH /knowledge-documents/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{Document, DocumentChange, DocumentId};

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Knowledge;

/// Change the name and the tags of a document
#[utoipa::path(
    patch, path = "/knowledge-documents/{id}", tag = "knowledge",
    params(("id" = DocumentId, Path, description = "The document")),
    request_body = DocumentChange,
    responses((status = 200, description = "The document", body = Document))
)]
pub(super) async fn patch_knowledge_document(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    PathId(id): PathId<DocumentId>,
    Body(change): Body<DocumentChange>,
) -> Result<Reply<Document>, ApiError> {
    let (author, reach) = (can.caller.author(), can.reach());
    Ok(Reply(knowledge.change(&author, reach, &id, change).await?))
}
