//! `/audit-logs` (spec A 4.10).

mod list;
mod view;

use view::AuditLogView;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("audit-logs", "Records of administrative actions and their actors")
        .add(endpoint!(list::list_audit_logs))
}
