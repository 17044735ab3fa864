//! `/routers/{id}/variables` and `/flows/{id}/variables`, with one contract (spec A 4.4).
//!
//! A secret value is taken and never given; whether a variable is secret is shown.

mod of_flow;
mod of_router;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("variables", "Static variables of routers and flows")
        .add(endpoint!(of_router::list::list_router_variables))
        .add(endpoint!(of_router::get::get_router_variable))
        .add(endpoint!(of_router::create::create_router_variable))
        .add(endpoint!(of_router::put::put_router_variable))
        .add(endpoint!(of_router::delete::delete_router_variable))
        .add(endpoint!(of_flow::list::list_flow_variables))
        .add(endpoint!(of_flow::get::get_flow_variable))
        .add(endpoint!(of_flow::create::create_flow_variable))
        .add(endpoint!(of_flow::put::put_flow_variable))
        .add(endpoint!(of_flow::delete::delete_flow_variable))
}
