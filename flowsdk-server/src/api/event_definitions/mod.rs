//! `/event-definitions`: the properties of the tracked events of a router (spec A 2.2), with their counts. Flows track
//! the events, so `flows` guards it.

mod create;
mod delete;
mod get;
mod list;
mod patch;
mod undefined;

use super::routes::{Routes, endpoint};

/// Where event definitions are.
const COLLECTION: &str = "/event-definitions";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("event-definitions", "The properties of the events that flows track, and their counts")
        .add(endpoint!(list::list_event_definitions))
        .add(endpoint!(create::create_event_definition))
        .add(endpoint!(undefined::list_undefined_events))
        .add(endpoint!(get::get_event_definition))
        .add(endpoint!(patch::patch_event_definition))
        .add(endpoint!(delete::delete_event_definition))
}
