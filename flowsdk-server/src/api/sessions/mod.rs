//! `/sessions` (spec A 4.5).

mod frozen;
mod get;
mod history;
mod list;
mod outcome;
mod path;
mod redirect;
mod trace;
mod trace_text;
mod unfreeze;
mod variables;
mod view;

pub(in crate::api) use variables::refused;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("sessions", "The state of conversations")
        .add(endpoint!(list::list_sessions))
        .add(endpoint!(frozen::list_frozen_sessions))
        .add(endpoint!(get::get_session))
        .add(endpoint!(variables::patch_session_variables))
        .add(endpoint!(redirect::redirect_session))
        .add(endpoint!(unfreeze::unfreeze_session))
        .add(endpoint!(trace::list_session_traces))
        .add(endpoint!(history::list_session_history))
}
