//! The group.

use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::time::Timestamp;

use crate::permission::Permissions;

/// The permissions of its users, and the routers whose records they may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The id of the group.
    pub id: GroupId,
    /// Its name.
    pub name: String,
    /// The permissions of its users.
    pub permissions: Permissions,
    /// Empty means no restriction.
    pub router_ids: Vec<RouterId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A group to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGroup {
    /// Its name.
    pub name: String,
    /// The permissions of its users.
    pub permissions: Permissions,
    /// Empty means no restriction.
    pub router_ids: Vec<RouterId>,
}

/// The changes to make; an absent field stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupChange {
    /// Its name.
    pub name: Option<String>,
    /// The permissions of its users.
    pub permissions: Option<Permissions>,
    /// Empty means no restriction.
    pub router_ids: Option<Vec<RouterId>>,
}

impl GroupChange {
    /// Returns the group after the change.
    pub(super) fn apply(self, mut group: Group, now: Timestamp) -> Group {
        group.name = self.name.unwrap_or(group.name);
        group.permissions = self.permissions.unwrap_or(group.permissions);
        group.router_ids = self.router_ids.unwrap_or(group.router_ids);
        group.updated_at = now;
        group
    }
}
