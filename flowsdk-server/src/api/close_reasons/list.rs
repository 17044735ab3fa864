//! `GET /close-reasons`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_helpdesk::close_reason::{CloseReason, CloseReasonFilter};
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{
    FromQuery, NameParams, Named, OfRouter, PageParams, PageView, Query, QueryReader, RouterParams,
};
use crate::api::reply::Reply;
use crate::api::state::CloseReasons;

/// Which close reasons.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct CloseReasonParams {
    /// Those that are active, or those that are not.
    is_active: Option<bool>,
}

/// The close reasons that are wanted.
#[derive(Debug)]
pub(super) struct Wanted(CloseReasonFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        Self(CloseReasonFilter { router_id, is_active: query.truth("isActive") })
    }
}

/// List close reasons
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/close-reasons", tag = "close-reasons",
    params(PageParams, RouterParams, CloseReasonParams, NameParams),
    responses((status = 200, description = "A page of close reasons", body = PageView<CloseReason>))
)]
pub(super) async fn list_close_reasons(
    can: Can<marks::Helpdesk, marks::Read>,
    State(reasons): State<Arc<CloseReasons>>,
    Query((page, (Wanted(filter), Named(query)))): Query<(PageRequest, (Wanted, Named))>,
) -> Result<Reply<PageView<CloseReason>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = reasons.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |one| one)))
}
