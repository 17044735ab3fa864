//! The facts that authentication and authorization decide on.

use flowsdk_core::id::{ApiClientId, UserId};
use flowsdk_core::time::Timestamp;

use crate::permission::{Permissions, RouterScope};
use crate::user::UserRole;

/// The grant of a group or an API client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// The permitted actions, by resource.
    pub permissions: Permissions,
    /// With the records of which routers.
    pub scope: RouterScope,
}

/// A user, as far as access goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAccess {
    /// The id of the user.
    pub id: UserId,
    /// The name of the user.
    pub name: String,
    /// An administrator needs no grant.
    pub role: UserRole,
    /// Tokens issued before this moment are void (spec A 4.1 rule 4).
    pub logged_out_at: Option<Timestamp>,
    /// The grant of the user's group; `None` without a group.
    pub grant: Option<Grant>,
}

/// An API client, as far as access goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ApiClientAccess {
    /// The id of the API client.
    pub id: ApiClientId,
    pub name: String,
    /// An inactive one is not let in.
    pub active: bool,
    /// From this moment on it is not let in.
    pub expires_at: Option<Timestamp>,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<Timestamp>,
    pub grant: Grant,
}
