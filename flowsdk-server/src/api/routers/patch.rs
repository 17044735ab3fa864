//! `PATCH /routers/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::admin::router::{ChangedRouter, RouterChange};
use flowsdk_core::id::RouterId;
use flowsdk_core::router::RouterView;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::opening::OpeningWarning;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Routers;

/// A router after a change, and what its contacts lack.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangedRouter)]
pub(super) struct ChangedView {
    #[serde(flatten)]
    router: RouterView,
    /// What keeps contacts from being answered, although the settings are valid.
    warnings: Vec<OpeningWarning>,
}

impl From<ChangedRouter> for ChangedView {
    fn from(ChangedRouter { router, no_opening }: ChangedRouter) -> Self {
        Self { router: router.into(), warnings: OpeningWarning::all(no_opening) }
    }
}

/// Change a router
///
/// Counts with the next message.
#[utoipa::path(
    patch, path = "/routers/{id}", tag = "routers",
    params(("id" = RouterId, Path, description = "The router")),
    request_body = RouterChange,
    responses(
        (status = 200, description = "The router", body = ChangedView),
        (status = 422, description = "`flow_unknown`: the initial flow is none of the router's; `flow_is_tool`"),
    )
)]
pub(super) async fn patch_router(
    can: Can<marks::Routers, marks::Write>,
    State(routers): State<Arc<Routers>>,
    PathId(id): PathId<RouterId>,
    Body(change): Body<RouterChange>,
) -> Result<Reply<ChangedView>, ApiError> {
    let id = can.admit(id)?;
    Ok(Reply(routers.change(&can.caller.author(), &id, change).await?.into()))
}
