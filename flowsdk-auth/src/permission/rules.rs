//! The rules of permissions (spec A 5.3, rulings H6, A7).

use flowsdk_core::router::Reach;

use super::{Action, Denied, Resource, RouterScope};
use crate::access::Grant;
use crate::user::UserRole;

/// Requires `action` with `resource`, and returns the routers whose records the principal may use. `role` is that
/// of a user; an API client has none and lives by its grant.
///
/// # Errors
/// [`Denied::NoGroup`], [`Denied::Permission`] or [`Denied::Global`], in this order.
pub fn require(
    role: Option<UserRole>,
    grant: Option<&Grant>,
    resource: Resource,
    action: Action,
) -> Result<RouterScope, Denied> {
    if role == Some(UserRole::Admin) {
        return Ok(RouterScope::All);
    }
    let grant = grant.ok_or(Denied::NoGroup)?;
    if !grant.permissions.allow(resource, action) {
        return Err(Denied::Permission);
    }
    match &grant.scope {
        RouterScope::Only(_) if resource.is_global() => Err(Denied::Global),
        scope => Ok(scope.clone()),
    }
}

/// Returns the routers whose records the principal may use, whatever its permissions: a group confines a member or an
/// API client, and no administrator. A member without a group reaches no router (spec A 5.3 rule 5).
pub fn reach(role: Option<UserRole>, grant: Option<&Grant>) -> Reach<'_> {
    match (role, grant) {
        (Some(UserRole::Admin), _) => Reach::ALL,
        (_, Some(grant)) => grant.scope.reach(),
        (_, None) => Reach::only(&[]),
    }
}

/// Requires an administrator. A group, whatever its scope, changes nothing about that (rulings A7).
///
/// # Errors
/// [`Denied::Admin`], also for every API client.
pub fn require_admin(role: Option<UserRole>) -> Result<(), Denied> {
    if role == Some(UserRole::Admin) { Ok(()) } else { Err(Denied::Admin) }
}

#[cfg(test)]
mod tests;
