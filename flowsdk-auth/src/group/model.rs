//! The group.

use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::time::Timestamp;

use crate::permission::Permissions;

/// What its users may do, and with the records of which routers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// Its name.
    pub name: String,
    /// What its users may do.
    pub permissions: Permissions,
    /// Empty means no restriction.
    pub router_ids: Vec<RouterId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}
