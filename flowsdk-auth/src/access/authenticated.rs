//! The principal of a request, and their present permissions.

use flowsdk_core::id::UserId;
use flowsdk_core::router::Reach;

use super::{ApiClientAccess, Grant, UserAccess};
use crate::permission::{Action, Denied, Resource, RouterScope, rules};
use crate::principal::Principal;
use crate::user::UserRole;

/// A principal who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authenticated {
    /// The principal of the request.
    pub principal: Principal,
    /// The role of a user; an API client has none.
    pub role: Option<UserRole>,
    /// The grant of the user's group, or of the API client itself; `None` for a user without a group.
    pub grant: Option<Grant>,
}

impl Authenticated {
    /// Requires `action` with `resource`, and returns the routers whose records the principal may use (spec A 5.3).
    ///
    /// # Errors
    /// [`Denied::NoGroup`], [`Denied::Permission`] or [`Denied::Global`].
    pub fn require(&self, resource: Resource, action: Action) -> Result<RouterScope, Denied> {
        rules::require(self.role, self.grant.as_ref(), resource, action)
    }

    /// Returns the routers within reach, for a use case that requires no permission.
    pub fn reach(&self) -> Reach<'_> {
        rules::reach(self.role, self.grant.as_ref())
    }

    /// Requires an administrator. No API client is one.
    ///
    /// # Errors
    /// [`Denied::Admin`].
    pub fn require_admin(&self) -> Result<(), Denied> {
        rules::require_admin(self.role)
    }

    /// Requires a user, and returns their id.
    ///
    /// # Errors
    /// [`Denied::UserOnly`] for an API client.
    pub fn require_user(&self) -> Result<&UserId, Denied> {
        self.principal.user_id().ok_or(Denied::UserOnly)
    }
}

impl From<&UserAccess> for Authenticated {
    fn from(user: &UserAccess) -> Self {
        Self {
            principal: Principal::User { id: user.id.clone(), name: user.name.clone() },
            role: Some(user.role),
            grant: user.grant.clone(),
        }
    }
}

impl From<&ApiClientAccess> for Authenticated {
    fn from(client: &ApiClientAccess) -> Self {
        Self {
            principal: Principal::ApiClient { id: client.id.clone(), name: client.name.clone() },
            role: None,
            grant: Some(client.grant.clone()),
        }
    }
}
