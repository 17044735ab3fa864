//! `POST /knowledge/search`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{FoundPassage, SearchKnowledge};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::reply::Reply;
use crate::api::state::Knowledge;

/// What a search found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = KnowledgeSearchResult)]
pub(super) struct Found {
    /// The passages, the nearest first.
    items: Vec<FoundPassage>,
}

/// Search the knowledge of a router
///
/// To try what agents find: they search in the same way, and get the first five. A router has its own documents only.
#[utoipa::path(
    post, path = "/knowledge/search", tag = "knowledge",
    request_body = SearchKnowledge,
    responses(
        (status = 200, description = "The passages", body = Found),
        (status = 422, description = "`router_unknown`"),
        (status = 502, description = "`embedder_failed`: the credential of the router has no account in order, or its \
            provider does not answer"),
    )
)]
pub(super) async fn search_knowledge(
    can: Can<marks::Flows, marks::Read>,
    _turn: HeavyTurn,
    State(knowledge): State<Arc<Knowledge>>,
    Body(search): Body<SearchKnowledge>,
) -> Result<Reply<Found>, ApiError> {
    let search = can.admit(search)?;
    Ok(Reply(Found { items: knowledge.search(search).await? }))
}
