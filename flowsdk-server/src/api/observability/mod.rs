//! `/settings/observability` (spec A 2.9).

mod get;
mod patch;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("settings", "Settings of the server")
        .add(endpoint!(get::get_observability))
        .add(endpoint!(patch::patch_observability))
}
