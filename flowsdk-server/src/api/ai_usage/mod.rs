//! `/ai/usage`: what models used and cost.

mod report;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes.tag("ai-usage", "What models used and cost").add(endpoint!(report::report_ai_usage))
}
