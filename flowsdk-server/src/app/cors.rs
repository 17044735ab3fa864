//! Permissions for pages of other origins.

use std::time::Duration;

use http::HeaderName;
use tower_http::cors::{Any, CorsLayer};

/// How long a browser may keep the answer of a preflight.
const PREFLIGHT_KEPT: Duration = Duration::from_secs(10 * 60);

/// Any page may call: the token holds the permissions, and there are no cookies.
pub(super) fn layer() -> CorsLayer {
    let names =
        |names: &[&'static str]| names.iter().copied().map(HeaderName::from_static).collect::<Vec<_>>();
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(Any)
        // A browser does not take `*` for `Authorization`, so the headers are named.
        .allow_headers(names(&[
            "authorization",
            "content-type",
            "idempotency-key",
            "x-channel-id",
            "x-user-id",
            "x-session-key",
        ]))
        .expose_headers(names(&[
            "content-disposition",
            "idempotency-replayed",
            "location",
            "ratelimit-limit",
            "ratelimit-remaining",
            "ratelimit-reset",
            "retry-after",
            "x-request-id",
        ]))
        .max_age(PREFLIGHT_KEPT)
}
