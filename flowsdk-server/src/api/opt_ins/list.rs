//! `GET /routers/{routerId}/opt-ins`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::contact::{OptInFilter, OptInStatus};
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use utoipa::IntoParams;

use super::view::RouterOptInView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::OptIns;

/// Which contacts.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct OptInParams {
    /// Those that last said this.
    #[param(value_type = Option<OptInStatus>)]
    status: Option<String>,
    /// Words, or beginnings of words, of name, number or alias; accents and capitals do not matter.
    #[param(max_length = 200, example = "ana smi")]
    q: Option<String>,
}

impl FromQuery for OptInFilter {
    fn read(query: &mut QueryReader) -> Self {
        Self {
            status: query.one_of("status", &OptInStatus::ALL, OptInStatus::name),
            terms: query.search("q"),
        }
    }
}

/// List the newest opt-in records of the contacts of a router
///
/// One record a contact, the newest.
#[utoipa::path(
    get, path = "/routers/{routerId}/opt-ins", tag = "contacts",
    params(("routerId" = RouterId, Path, description = "The router"), PageParams, OptInParams),
    responses((status = 200, description = "A page of records", body = PageView<RouterOptInView>))
)]
pub(super) async fn list_router_opt_ins(
    can: Can<marks::Contacts, marks::Read>,
    State(opt_ins): State<Arc<OptIns>>,
    PathId(router): PathId<RouterId>,
    Query((page, filter)): Query<(PageRequest, OptInFilter)>,
) -> Result<Reply<PageView<RouterOptInView>>, ApiError> {
    let router = can.admit(router)?;
    let page = opt_ins.of_router(&router, &filter, &page).await?;
    Ok(Reply(PageView::of(page, RouterOptInView::from)))
}
