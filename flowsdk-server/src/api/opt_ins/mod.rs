//! Opt-ins: `/contacts/{contactId}/opt-in`, `/routers/{routerId}/opt-ins` (spec A 4.6).

mod bulk;
mod current;
mod history;
mod list;
mod sent;
mod table;
mod view;

pub(in crate::api) use view::OptInView;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(endpoint!(current::get_contact_opt_in))
        .add(endpoint!(history::list_contact_opt_ins))
        .add(endpoint!(list::list_router_opt_ins))
        .add(endpoint!(bulk::import_opt_ins))
}
