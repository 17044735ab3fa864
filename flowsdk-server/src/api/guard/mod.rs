//! Guards on callers: extractors that a handler has as its first argument.
//!
//! A route is added with the access that its handler's first argument stands for ([`access_of`]), and the document
//! shows it as `x-permission`. A function without a guard is not a handler of the API: it does not compile.

mod caller;
mod can;
pub mod marks;
mod trespass;

pub use caller::{AdminOnly, AnyPrincipal, AnyUser, Caller, Public};
pub use can::Can;
pub(super) use trespass::{Beyond, Watch};

use std::fmt;

use axum::extract::FromRequestParts;
use axum::handler::Handler;
use flowsdk_auth::permission::{Action, Resource};

use super::error::ApiError;
use super::state::ApiState;

/// The access that a route requires of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No access rule: anybody may call.
    Public,
    /// A valid token of any principal.
    Authenticated,
    /// To be a person.
    User,
    /// To be an administrator.
    Admin,
    /// To be allowed to do something with a resource.
    Permission(Resource, Action),
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::Authenticated => f.write_str("authenticated"),
            Self::User => f.write_str("user"),
            Self::Admin => f.write_str("admin"),
            Self::Permission(resource, action) => write!(f, "{}:{}", resource.name(), action.name()),
        }
    }
}

/// An extractor that lets only some callers through.
pub trait Guard: FromRequestParts<ApiState, Rejection = ApiError> {
    /// Whom it lets through.
    const ACCESS: Access;
}

/// The arguments of a handler whose first one is a guard.
pub trait Guarded {
    /// Whom it lets through.
    const ACCESS: Access;
}

macro_rules! guarded {
    ($([$($rest:ident),*])*) => {$(
        impl<M, G: Guard, $($rest),*> Guarded for (M, G, $($rest,)*) {
            const ACCESS: Access = G::ACCESS;
        }
    )*};
}

guarded! { [] [A] [A, B] [A, B, C] [A, B, C, D] [A, B, C, D, E] [A, B, C, D, E, F] }

/// Whom a handler lets through.
pub fn access_of<H, T>(_handler: &H) -> Access
where
    H: Handler<T, ApiState>,
    T: Guarded,
{
    T::ACCESS
}
