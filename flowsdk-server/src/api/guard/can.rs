//! The guard of a permission.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use flowsdk_auth::permission::RouterScope;
use flowsdk_core::router::{Admitted, Reach, Reachable};
use http::request::Parts;

use super::caller::Caller;
use super::marks::{ActionMark, ResourceMark};
use super::{Access, Guard, Watch};
use crate::api::error::ApiError;
use crate::api::request;
use crate::api::state::ApiState;
use crate::gate::Key;

/// A caller who may do `A` with `R` (spec A 5.3), and with the records of which routers.
#[derive(Debug)]
pub struct Can<R, A> {
    /// The caller with the permission.
    pub caller: Caller,
    /// The routers within the caller's reach.
    scope: RouterScope,
    marks: PhantomData<fn() -> (R, A)>,
}

impl<R: ResourceMark, A: ActionMark> FromRequestParts<ApiState> for Can<R, A> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let caller = Caller::identify(parts, state).await?;
        let scope = caller.authenticated().require(R::RESOURCE, A::ACTION)?;
        if matches!(scope, RouterScope::Only(_))
            && let Some(watch) = Watch::of(parts, &caller, state)
        {
            request::watch(watch);
        }
        // What a caller of some routers does, their tenant does: every caller of the same routers.
        parts.extensions.insert(match &scope {
            RouterScope::All => Key::of(caller.principal().id()),
            RouterScope::Only(routers) => Key::of(routers),
        });
        Ok(Self { caller, scope, marks: PhantomData })
    }
}

impl<R, A> Can<R, A> {
    /// Returns the routers within the caller's reach.
    pub fn reach(&self) -> Reach<'_> {
        self.scope.reach()
    }

    /// Returns the proof that the object that the request names is within the caller's reach; services require it.
    pub fn admit<T: Reachable>(&self, it: T) -> Result<Admitted<T>, ApiError> {
        Ok(self.scope.admit(it)?)
    }
}

impl<R: ResourceMark, A: ActionMark> Guard for Can<R, A> {
    const ACCESS: Access = Access::Permission(R::RESOURCE, A::ACTION);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::api::tests::sources;

    #[test]
    fn no_route_of_the_api_makes_a_reach_of_its_own() {
        let api = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api");
        let found = sources(&api);
        assert!(found.len() > 100, "{} sources", found.len());
        for (path, text) in found.iter().filter(|(path, _)| !path.ends_with("guard/can.rs")) {
            for forbidden in ["Reach::", "Admitted::", "RouterScope", "authenticated().reach()"] {
                // It shows the caller their routers.
                let may = path.ends_with("auth/me.rs") && forbidden.starts_with("authenticated");
                assert!(
                    may || !text.contains(forbidden),
                    "{path} has {forbidden}: only the caller's scope decides over reach"
                );
            }
        }
    }
}
