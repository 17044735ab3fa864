//! The public form of a group.

use flowsdk_core::change::View;
use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::Group;
use crate::permission::Permissions;

/// A group of users.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = Group)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Group)]
pub struct GroupView {
    /// The id of the group.
    pub id: GroupId,
    #[schema(example = "Support")]
    name: String,
    /// The permissions of its users.
    #[schema(value_type = Vec<crate::permission::Permission>)]
    permissions: Permissions,
    /// The routers they are confined to; empty means no restriction.
    router_ids: Vec<RouterId>,
    created_at: IsoTime,
    updated_at: IsoTime,
}
