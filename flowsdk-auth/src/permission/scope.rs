//! The routers that a principal is confined to.

use flowsdk_core::id::RouterId;

use super::Denied;

/// Which routers' records a principal may touch (spec A 2.1 `routerIds`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RouterScope {
    /// All of them.
    #[default]
    All,
    /// These only; never empty.
    Only(Vec<RouterId>),
}

impl RouterScope {
    /// Returns the scope of a list of `routerIds`: an empty one restricts nothing.
    pub fn of(router_ids: Vec<RouterId>) -> Self {
        if router_ids.is_empty() { Self::All } else { Self::Only(router_ids) }
    }

    /// Returns whether records of `router` are within reach.
    pub fn contains(&self, router: &RouterId) -> bool {
        match self {
            Self::All => true,
            Self::Only(routers) => routers.contains(router),
        }
    }

    /// [`Self::contains`] for a route that names its router (rulings H6).
    ///
    /// # Errors
    /// [`Denied::Router`].
    pub fn admit(&self, router: &RouterId) -> Result<(), Denied> {
        if self.contains(router) { Ok(()) } else { Err(Denied::Router) }
    }

    /// Returns the routers, if there is a restriction.
    pub fn routers(&self) -> Option<&[RouterId]> {
        match self {
            Self::All => None,
            Self::Only(routers) => Some(routers),
        }
    }
}
