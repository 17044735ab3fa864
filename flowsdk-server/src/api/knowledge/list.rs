//! `GET /knowledge-documents`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::knowledge::{Document, DocumentFilter, DocumentStatus};
use flowsdk_core::page::PageRequest;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{
    FromQuery, NameParams, Named, OfRouter, PageParams, PageView, Query, QueryReader, RouterParams,
};
use crate::api::reply::Reply;
use crate::api::state::Knowledge;

/// Which documents.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct DocumentParams {
    /// Those that are so far.
    #[param(inline)]
    status: Option<DocumentStatus>,
}

/// The documents that are wanted.
#[derive(Debug)]
pub(super) struct Wanted(DocumentFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        let status = query.one_of("status", &DocumentStatus::ALL, DocumentStatus::name);
        Self(DocumentFilter { router_id, status })
    }
}

/// List documents
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/knowledge-documents", tag = "knowledge",
    params(PageParams, RouterParams, DocumentParams, NameParams),
    responses((status = 200, description = "A page of documents", body = PageView<Document>))
)]
pub(super) async fn list_knowledge_documents(
    can: Can<marks::Flows, marks::Read>,
    State(knowledge): State<Arc<Knowledge>>,
    Query((page, (Wanted(filter), Named(query)))): Query<(PageRequest, (Wanted, Named))>,
) -> Result<Reply<PageView<Document>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = knowledge.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
