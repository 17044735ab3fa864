//! `/routers` (spec A 4.3).

mod get;
mod list;
mod view;

use view::RouterView;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes.add(endpoint!(list::list_routers)).add(endpoint!(get::get_router))
}
