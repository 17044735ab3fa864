//! `POST /groups`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_auth::group::{Group, NewGroup};
use flowsdk_auth::permission::{Permission, Permissions};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, GroupView};
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Groups;

/// A group to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateGroup {
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Atendimento")]
    name: String,
    /// What its users may do.
    #[serde(default)]
    #[schema(value_type = Vec<Permission>, required = false, max_items = 100)]
    permissions: Permissions,
    /// The routers they are confined to; empty means no restriction.
    #[serde(default)]
    #[schema(required = false, max_items = 1000)]
    router_ids: Vec<RouterId>,
}

/// Create a group
#[utoipa::path(
    post, path = "/groups", tag = "groups",
    params(IdempotencyParams),
    request_body = CreateGroup,
    responses(
        (status = 201, description = "The group", body = GroupView),
        (status = 409, description = "`idempotency_conflict`"),
    )
)]
pub(super) async fn create_group(
    AdminOnly(caller): AdminOnly,
    State(groups): State<Arc<Groups>>,
    body: Idempotent<CreateGroup>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&caller);
    let once = request
        .map(|request| Once { request, answer: |group: &Group| stored(&GroupView::from(group.clone())) });
    let new = NewGroup { name: body.name, permissions: body.permissions, router_ids: body.router_ids };
    Ok(match groups.create(&caller.actor(), new, once).await? {
        Outcome::Done(group) => {
            let body = GroupView::from(group);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
