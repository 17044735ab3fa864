//! Whose records a caller may touch.

use crate::id::RouterId;

/// The routers within a caller's reach: all of them, or these only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach<'a>(pub Option<&'a [RouterId]>);

impl Reach<'_> {
    /// Everything.
    pub const ALL: Self = Self(None);

    /// Returns whether records of `router` are within reach.
    pub fn contains(&self, router: &RouterId) -> bool {
        self.0.is_none_or(|only| only.contains(router))
    }
}
