//! `GET /flows`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::flow::{FlowFilter, FlowKind};
use flowsdk_core::id::RouterId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use super::FlowView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, NameParams, Named, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Flows;

/// Which flows.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct FlowParams {
    /// Those of this router.
    router_id: Option<RouterId>,
    /// Those of this kind.
    kind: Option<FlowKind>,
}

impl FromQuery for FlowFilter {
    fn read(query: &mut QueryReader) -> Self {
        let not_an_id = Text::new("Id inválido", "Invalid id");
        Self {
            router_id: query.parsed("routerId", |text| RouterId::parse(text).ok(), not_an_id),
            kind: query.one_of("kind", &FlowKind::ALL, FlowKind::name),
        }
    }
}

/// List flows
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/flows", tag = "flows",
    params(PageParams, FlowParams, NameParams),
    responses((status = 200, description = "A page of flows", body = PageView<FlowView>))
)]
pub(super) async fn list_flows(
    can: Can<marks::Flows, marks::Read>,
    State(flows): State<Arc<Flows>>,
    Query((page, (filter, Named(query)))): Query<(PageRequest, (FlowFilter, Named))>,
) -> Result<Reply<PageView<FlowView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = flows.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, FlowView::from)))
}
