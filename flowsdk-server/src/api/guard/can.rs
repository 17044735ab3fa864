//! The guard of a permission.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use flowsdk_auth::permission::RouterScope;
use http::request::Parts;

use super::caller::Caller;
use super::marks::{ActionMark, ResourceMark};
use super::{Access, Guard};
use crate::api::error::ApiError;
use crate::api::state::ApiState;

/// A caller who may do `A` with `R` (spec A 5.3), and with the records of which routers.
#[derive(Debug)]
pub struct Can<R, A> {
    /// The caller with the permission.
    pub caller: Caller,
    /// The routers within the caller's reach.
    pub scope: RouterScope,
    marks: PhantomData<fn() -> (R, A)>,
}

impl<R: ResourceMark, A: ActionMark> FromRequestParts<ApiState> for Can<R, A> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let caller = Caller::identify(parts, state).await?;
        let scope = caller.authenticated().require(R::RESOURCE, A::ACTION)?;
        Ok(Self { caller, scope, marks: PhantomData })
    }
}

impl<R: ResourceMark, A: ActionMark> Guard for Can<R, A> {
    const ACCESS: Access = Access::Permission(R::RESOURCE, A::ACTION);
}
