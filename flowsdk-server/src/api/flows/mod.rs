//! `/flows` (spec A 4.3).

mod create;
mod delete;
mod diff;
mod get;
mod get_version;
mod graph;
mod list;
mod patch;
pub(super) mod problems;
mod publish;
mod roll_back;
mod schema;
mod unpublish;
mod validate;
mod versions;
mod view;
mod written;

pub(super) use view::VersionView;
use view::{FlowDetailsView, FlowView};

use super::routes::{Routes, endpoint};

/// Where flows are.
const COLLECTION: &str = "/flows";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("flows", "Flows that conversations run: drafts, published versions, test versions")
        .add(endpoint!(list::list_flows))
        .add(endpoint!(create::create_flow))
        .add(endpoint!(get::get_flow))
        .add(endpoint!(patch::patch_flow))
        .add(endpoint!(delete::delete_flow))
        .add(endpoint!(validate::validate_flow))
        .add(endpoint!(publish::publish_flow))
        .add(endpoint!(unpublish::unpublish_flow))
        .add(endpoint!(versions::list_flow_versions))
        .add(endpoint!(get_version::get_flow_version))
        .add(endpoint!(roll_back::roll_back_flow))
        .add(endpoint!(diff::diff_flow))
        .add(endpoint!(graph::flow_as_svg))
        .add(endpoint!(graph::flow_as_mermaid))
        .add(endpoint!(schema::flow_schema))
}
