//! `GET /sessions`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::{ContactId, FlowId, RouterId};
use flowsdk_core::page::PageRequest;
use flowsdk_core::session::{Mode, SessionFilter};
use utoipa::IntoParams;

use super::view::SessionView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Sessions;

/// Which sessions.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct SessionParams {
    /// Those of this router.
    #[param(value_type = Option<RouterId>)]
    router_id: Option<String>,
    /// Those of this owner.
    #[param(value_type = Option<Mode>)]
    mode: Option<String>,
    /// Those of this contact.
    #[param(value_type = Option<ContactId>)]
    contact_id: Option<String>,
    /// Those that are in this flow.
    #[param(value_type = Option<FlowId>)]
    flow_id: Option<String>,
}

impl FromQuery for SessionFilter {
    fn read(query: &mut QueryReader) -> Self {
        Self {
            router_id: query.id("routerId", RouterId::parse),
            mode: query.one_of("mode", &Mode::ALL, Mode::name),
            contact_id: query.id("contactId", ContactId::parse),
            flow_id: query.id("flowId", FlowId::parse),
        }
    }
}

/// List live sessions
///
/// A caller who is confined to routers sees the sessions of these only.
#[utoipa::path(
    get, path = "/sessions", tag = "sessions",
    params(PageParams, SessionParams),
    responses((status = 200, description = "A page of sessions", body = PageView<SessionView>))
)]
pub(super) async fn list_sessions(
    can: Can<marks::Sessions, marks::Read>,
    State(sessions): State<Arc<Sessions>>,
    Query((page, filter)): Query<(PageRequest, SessionFilter)>,
) -> Result<Reply<PageView<SessionView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = sessions.list(can.reach(), &filter, &page).await?;
    Ok(Reply(PageView::of(page, SessionView::from)))
}
