//! `GET /auth/me`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::access::Authenticated;
use flowsdk_auth::permission::{Action, Permission, Permissions, Resource};
use flowsdk_auth::principal::Principal;
use flowsdk_auth::user::{UserRole, UserView};
use flowsdk_core::id::RouterId;
use flowsdk_core::schema::AnyId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::AnyPrincipal;
use crate::api::reply::Reply;
use crate::api::state::Users;

/// The kind of a caller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum PrincipalKind {
    User,
    ApiClient,
}

/// The caller, with the permissions that they have at this moment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Me {
    kind: PrincipalKind,
    #[schema(value_type = AnyId)]
    id: String,
    name: String,
    /// Null for an API client.
    #[schema(required = true)]
    user: Option<UserView>,
    /// Those of the user's group or of the API client; all of them for an administrator.
    #[schema(value_type = Vec<Permission>)]
    permissions: Permissions,
    /// The routers that the caller is confined to; empty means no restriction. A member without a group has no
    /// permissions and reaches no router.
    router_ids: Vec<RouterId>,
}

/// Show the caller
///
/// With their group and their permissions.
#[utoipa::path(
    get, path = "/auth/me", tag = "auth",
    responses((status = 200, description = "The caller", body = Me))
)]
pub(super) async fn show_me(
    AnyPrincipal(caller): AnyPrincipal,
    State(users): State<Arc<Users>>,
) -> Result<Reply<Me>, ApiError> {
    let (kind, user) = match caller.principal() {
        Principal::User { id, .. } => (PrincipalKind::User, Some(users.get(id).await?.into())),
        Principal::ApiClient { .. } => (PrincipalKind::ApiClient, None),
    };
    let permissions = permissions(caller.authenticated());
    let router_ids = caller.authenticated().reach().routers().unwrap_or_default().to_vec();
    let (id, name) = (caller.principal().id().to_owned(), caller.principal().name().to_owned());
    Ok(Reply(Me { kind, id, name, user, permissions, router_ids }))
}

/// Returns the caller's permissions. An administrator's group neither adds nor takes anything.
fn permissions(who: &Authenticated) -> Permissions {
    if who.role == Some(UserRole::Admin) {
        let all = |resource| Permission { resource, actions: Action::ALL.to_vec() };
        return Resource::ALL.map(all).to_vec().into();
    }
    who.grant.as_ref().map(|grant| grant.permissions).unwrap_or_default()
}
