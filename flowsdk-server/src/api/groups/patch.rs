//! `PATCH /groups/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::group::GroupChange;
use flowsdk_auth::permission::{Permission, Permissions};
use flowsdk_core::id::{GroupId, RouterId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::GroupView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Groups;

/// What is to change of a group; an absent field stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PatchGroup {
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Atendimento")]
    name: Option<String>,
    /// What its users may do; replaces the whole list.
    #[schema(value_type = Vec<Permission>, required = false, max_items = 100)]
    permissions: Option<Permissions>,
    /// The routers they are confined to; replaces the whole list, and an empty one lifts the restriction.
    #[schema(value_type = Vec<RouterId>, required = false, max_items = 1000)]
    router_ids: Option<Vec<RouterId>>,
}

/// Change a group
///
/// Its users' next requests see the change.
#[utoipa::path(
    patch, path = "/groups/{id}", tag = "groups",
    params(("id" = GroupId, Path, description = "The group")),
    request_body = PatchGroup,
    responses((status = 200, description = "The group", body = GroupView))
)]
pub(super) async fn patch_group(
    AdminOnly(caller): AdminOnly,
    State(groups): State<Arc<Groups>>,
    PathId(id): PathId<GroupId>,
    Body(body): Body<PatchGroup>,
) -> Result<Reply<GroupView>, ApiError> {
    let change = GroupChange { name: body.name, permissions: body.permissions, router_ids: body.router_ids };
    Ok(Reply(groups.change(&caller.actor(), &id, change).await?.into()))
}
