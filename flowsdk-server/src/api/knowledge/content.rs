//! `PUT /knowledge-documents/{id}/content`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{Document, DocumentId, NewContent};

use super::CONTENT_LIMIT;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::Idempotent;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Knowledge;

/// Replace the content of a document
///
/// The document is not found until the new content has been read and embedded.
#[utoipa::path(
    put, path = "/knowledge-documents/{id}/content", tag = "knowledge",
    params(("id" = DocumentId, Path, description = "The document")),
    request_body = NewContent,
    responses(
        (status = 200, description = "The document", body = Document),
        (status = 413, description = "`payload_too_large`"),
    )
)]
pub(super) async fn replace_knowledge_content(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    PathId(id): PathId<DocumentId>,
    mut body: Idempotent<NewContent, CONTENT_LIMIT>,
) -> Result<Reply<Document>, ApiError> {
    let _place = body.place();
    // Replaced twice by the same content it is as if it were replaced once.
    let (content, _) = body.of(&can.caller);
    Ok(Reply(knowledge.replace(&can.caller.author(), can.reach(), &id, content).await?))
}
