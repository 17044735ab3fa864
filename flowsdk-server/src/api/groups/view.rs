//! A group as clients see it.

use flowsdk_auth::group::Group;
use flowsdk_auth::permission::{Permission, Permissions};
use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// A group of users.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Group)]
pub(in crate::api) struct GroupView {
    pub(super) id: GroupId,
    #[schema(example = "Atendimento")]
    name: String,
    /// The permissions of its users.
    #[schema(value_type = Vec<Permission>)]
    permissions: Permissions,
    /// The routers they are confined to; empty means no restriction.
    router_ids: Vec<RouterId>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<Group> for GroupView {
    fn from(group: Group) -> Self {
        Self {
            id: group.id,
            name: group.name,
            permissions: group.permissions,
            router_ids: group.router_ids,
            created_at: group.created_at.into(),
            updated_at: group.updated_at.into(),
        }
    }
}
