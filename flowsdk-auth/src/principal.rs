//! The caller: a user or an API client, and the place of the call.

use flowsdk_core::id::{ApiClientId, UserId};

/// The author of a request (spec A 5.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Principal {
    /// A person with an account.
    User {
        /// The id of the user.
        id: UserId,
        /// The name of the user.
        name: String,
    },
    /// A machine with a token.
    ApiClient {
        /// The id of the API client.
        id: ApiClientId,
        /// The name of the API client.
        name: String,
    },
}

impl Principal {
    /// Returns the id, whatever it is of.
    pub fn id(&self) -> &str {
        match self {
            Self::User { id, .. } => id.as_str(),
            Self::ApiClient { id, .. } => id.as_str(),
        }
    }

    /// Returns the display name.
    pub fn name(&self) -> &str {
        match self {
            Self::User { name, .. } | Self::ApiClient { name, .. } => name,
        }
    }

    /// Returns the user, if it is one.
    pub fn user_id(&self) -> Option<&UserId> {
        match self {
            Self::User { id, .. } => Some(id),
            Self::ApiClient { .. } => None,
        }
    }
}

/// Where a request came from, for the audit log (spec A 2.7 `metadata`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The address of the caller.
    pub ip: String,
    /// The `User-Agent` of the caller.
    pub user_agent: Option<String>,
}

/// A principal, and the place from which they call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The principal who acts.
    pub principal: Principal,
    /// The address and client of the request.
    pub origin: Origin,
}
