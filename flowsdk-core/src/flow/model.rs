//! A flow and its published versions.

use serde_json::Value;

use crate::id::{FlowId, FlowVersionId, RouterId};
use crate::time::Timestamp;

/// A flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Its id.
    pub id: FlowId,
    /// The router it belongs to.
    pub router_id: RouterId,
    /// Its name.
    pub name: String,
    /// The version that new sessions run; `None` when it is not published.
    pub published_version_id: Option<FlowVersionId>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// One published version of a flow; it never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowVersion {
    /// Its id.
    pub id: FlowVersionId,
    /// The flow.
    pub flow_id: FlowId,
    /// The router of the flow.
    pub router_id: RouterId,
    /// Name of the flow when it was published.
    pub flow_name: String,
    /// 1, 2, 3 ...
    pub number: i64,
    /// The definition as JSON.
    pub definition: Value,
    /// When it was published.
    pub created_at: Timestamp,
}
