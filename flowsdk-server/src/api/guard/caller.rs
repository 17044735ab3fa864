//! The caller, and the guards that ask for no permission.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use flowsdk_auth::access::Authenticated;
use flowsdk_auth::principal::{Actor, Origin, Principal};
use flowsdk_core::change::Author;
use flowsdk_core::id::UserId;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};

use super::{Access, Guard};
use crate::api::access_log::Served;
use crate::api::error::ApiError;
use crate::api::request::note_served;
use crate::api::state::ApiState;

/// Longest `User-Agent` that is kept, in characters.
const USER_AGENT_MAX: usize = 512;

/// Where a request comes from; texts are made of it only where somebody writes them down.
#[derive(Debug)]
struct Source {
    address: IpAddr,
    user_agent: Option<HeaderValue>,
}

impl Source {
    fn of(parts: &Parts, state: &ApiState) -> Self {
        let address = crate::caller::address(&parts.headers, &parts.extensions, state.trusted_proxies());
        Self { address, user_agent: parts.headers.get(header::USER_AGENT).cloned() }
    }

    fn origin(&self) -> Origin {
        let agent = self.user_agent.as_ref().and_then(|value| value.to_str().ok());
        Origin {
            ip: self.address.to_string(),
            user_agent: agent.map(|text| text.chars().take(USER_AGENT_MAX).collect()),
        }
    }
}

/// A caller who is known.
#[derive(Debug)]
pub struct Caller {
    authenticated: Authenticated,
    source: Source,
}

impl Caller {
    /// Recognises the caller by their token and takes the request out of their bucket (spec A 5.2, rulings H10).
    pub(super) async fn identify(parts: &Parts, state: &ApiState) -> Result<Self, ApiError> {
        let found = state.authenticator().authenticate(authorization(&parts.headers)).await;
        note_served(Served::of(&parts.extensions, found.as_ref().ok().map(|caller| &caller.principal)));
        let authenticated = found?;
        if let Some(limits) = state.limits() {
            limits.admit(authenticated.principal.id())?;
        }
        Ok(Self { authenticated, source: Source::of(parts, state) })
    }

    /// Returns the principal and its permissions.
    pub fn authenticated(&self) -> &Authenticated {
        &self.authenticated
    }

    /// Returns the principal that calls.
    pub fn principal(&self) -> &Principal {
        &self.authenticated.principal
    }

    /// Returns the principal and the origin of the call, for the audit log.
    pub fn actor(&self) -> Actor {
        Actor { principal: self.principal().clone(), origin: self.source.origin() }
    }

    /// The same for services that know no principals.
    pub fn author(&self) -> Author {
        let Origin { ip, user_agent } = self.source.origin();
        Author { id: self.principal().id().to_owned(), ip, user_agent }
    }
}

/// Returns the value of `Authorization`. Bytes that are not text are not a token.
fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok())
}

/// A caller who need not be known.
#[derive(Debug)]
pub struct Public {
    /// The origin of the call, for the audit log.
    pub origin: Origin,
    /// The header `Authorization`, unchecked.
    pub authorization: Option<String>,
}

impl FromRequestParts<ApiState> for Public {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        note_served(Served::of(&parts.extensions, None));
        let authorization = authorization(&parts.headers).map(str::to_owned);
        Ok(Self { origin: Source::of(parts, state).origin(), authorization })
    }
}

impl Guard for Public {
    const ACCESS: Access = Access::Public;
}

/// Anybody who is known.
#[derive(Debug)]
pub struct AnyPrincipal(pub Caller);

impl FromRequestParts<ApiState> for AnyPrincipal {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        Caller::identify(parts, state).await.map(Self)
    }
}

impl Guard for AnyPrincipal {
    const ACCESS: Access = Access::Authenticated;
}

/// A caller who is a user.
#[derive(Debug)]
pub struct AnyUser {
    /// The caller, who is a user.
    pub caller: Caller,
    /// The id of the user.
    pub id: UserId,
}

impl FromRequestParts<ApiState> for AnyUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let caller = Caller::identify(parts, state).await?;
        let id = caller.authenticated.require_user()?.clone();
        Ok(Self { caller, id })
    }
}

impl Guard for AnyUser {
    const ACCESS: Access = Access::User;
}

/// An administrator (spec A 5.3 `requireAdminUserRole`).
#[derive(Debug)]
pub struct AdminOnly(pub Caller);

impl FromRequestParts<ApiState> for AdminOnly {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let caller = Caller::identify(parts, state).await?;
        caller.authenticated.require_admin()?;
        Ok(Self(caller))
    }
}

impl Guard for AdminOnly {
    const ACCESS: Access = Access::Admin;
}
