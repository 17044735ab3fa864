//! `/routers/{id}/dispatch` (spec A 4.8).

mod template;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("dispatch", "Messages to contacts, whether they have written or not")
        .add(endpoint!(template::dispatch_template))
}
