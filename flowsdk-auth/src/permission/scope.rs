//! The routers that a principal is confined to.

use flowsdk_core::id::RouterId;
use flowsdk_core::router::{Admitted, Reach, Reachable};

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
        self.reach().contains(router)
    }

    /// Returns the scope as services ask for it.
    pub fn reach(&self) -> Reach<'_> {
        self.routers().map_or(Reach::ALL, Reach::only)
    }

    /// Returns the proof that `it`, which names its router, is within reach (rulings H6).
    ///
    /// # Errors
    /// [`Denied::Router`].
    pub fn admit<T: Reachable>(&self, it: T) -> Result<Admitted<T>, Denied> {
        self.reach().admit(it).map_err(|_| Denied::Router)
    }

    /// Returns the routers, if there is a restriction.
    pub fn routers(&self) -> Option<&[RouterId]> {
        match self {
            Self::All => None,
            Self::Only(routers) => Some(routers),
        }
    }
}

impl From<Reach<'_>> for RouterScope {
    fn from(reach: Reach<'_>) -> Self {
        reach.routers().map_or(Self::All, |routers| Self::Only(routers.to_vec()))
    }
}
