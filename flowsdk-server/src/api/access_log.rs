//! One line of log a request, so that the `requestId` of every answer is found.

use std::time::Duration;

use axum::extract::MatchedPath;
use flowsdk_auth::principal::Principal;
use http::{Extensions, Method, StatusCode};

/// The target of lines about callers who are known. Their number is bounded by the callers' own limits.
const KNOWN: &str = "flowsdk_server::requests";
/// The target of lines about other callers. They may be as many as strangers like, so the log counts those beyond a
/// number.
pub(crate) const STRANGERS: &str = "flowsdk_server::requests::strangers";

/// The kind of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    ApiClient,
    /// Nobody that the server knows: a login, a wrong token, a visitor.
    Stranger,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::ApiClient => "apiClient",
            Self::Stranger => "stranger",
        }
    }
}

/// The facts of a request that are known once its route is found.
#[derive(Debug, Clone)]
pub(super) struct Served {
    route: Option<MatchedPath>,
    caller: Kind,
}

impl Served {
    /// A request that no route took.
    pub(super) const NOWHERE: Self = Self { route: None, caller: Kind::Stranger };

    /// A request by `principal`, or by a stranger, with the extensions of its route.
    pub(super) fn of(extensions: &Extensions, principal: Option<&Principal>) -> Self {
        let caller = match principal {
            None => Kind::Stranger,
            Some(Principal::User { .. }) => Kind::User,
            Some(Principal::ApiClient { .. }) => Kind::ApiClient,
        };
        Self { route: extensions.get().cloned(), caller }
    }

    /// Logs the answer. Ids in the path stay out of the line, because the route names it.
    pub(super) fn log(&self, id: &str, method: &Method, status: StatusCode, took: Duration) {
        let route = self.route.as_ref().map(MatchedPath::as_str);
        let (status, caller) = (status.as_u16(), self.caller.name());
        let ms = (took.as_secs_f64() * 10_000.0).round() / 10.0;
        match self.caller {
            Kind::Stranger => {
                tracing::info!(target: STRANGERS, %method, route, status, ms, caller, request = id, "request");
            }
            Kind::User | Kind::ApiClient => {
                tracing::info!(target: KNOWN, %method, route, status, ms, caller, request = id, "request");
            }
        }
    }
}
