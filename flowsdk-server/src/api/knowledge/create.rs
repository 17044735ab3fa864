//! `POST /knowledge-documents`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::knowledge::{Document, NewDocument};
use flowsdk_core::idempotency::{Once, Outcome};

use super::{COLLECTION, CONTENT_LIMIT};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Knowledge;

/// Create a document
///
/// It is read, cut into passages and embedded after the answer; `status` tells how far it is. Searches find it when it is
/// `ready`.
#[utoipa::path(
    post, path = "/knowledge-documents", tag = "knowledge",
    params(IdempotencyParams),
    request_body = NewDocument,
    responses(
        (status = 201, description = "The document", body = Document),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 413, description = "`payload_too_large`"),
        (status = 422, description = "`router_unknown`; `knowledge_full`: the router has 1000 documents"),
    )
)]
pub(super) async fn create_knowledge_document(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    mut body: Idempotent<NewDocument, CONTENT_LIMIT>,
) -> Result<Response, ApiError> {
    let _place = body.place();
    let (new, request) = body.of(&can.caller);
    let once = request.map(|request| Once { request, answer: |made: &Document| stored(made) });
    Ok(match knowledge.create(&can.caller.author(), can.admit(new)?, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
