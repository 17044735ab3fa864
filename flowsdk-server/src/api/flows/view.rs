//! A flow as clients see it.

use flowsdk_core::admin::flow::FlowDetails;
use flowsdk_core::flow::{FlowKind, FlowVersion, FlowVersionHead, ListedFlow, Written};
use flowsdk_core::id::{FlowId, FlowVersionId, RouterId};
use flowsdk_core::schema::FlowDraft;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// A flow without its definition.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Flow)]
pub(super) struct FlowView {
    pub(super) id: FlowId,
    router_id: RouterId,
    #[schema(example = "Welcome")]
    name: String,
    kind: FlowKind,
    /// Of the draft; raised whenever its definition is changed.
    revision: i64,
    /// The number of the version that new sessions run; null when it is not published.
    #[schema(required = true)]
    published_version: Option<i64>,
    /// Whether new sessions of the test channel run another version.
    has_test_version: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<ListedFlow> for FlowView {
    fn from(listed: ListedFlow) -> Self {
        let ListedFlow { flow, revision, published_number } = listed;
        Self {
            id: flow.id,
            router_id: flow.router_id,
            name: flow.name,
            kind: flow.kind,
            revision,
            published_version: published_number,
            has_test_version: flow.test_version_id.is_some(),
            created_at: flow.created_at.into(),
            updated_at: flow.updated_at.into(),
        }
    }
}

/// A flow with its draft.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowDetails)]
pub(super) struct FlowDetailsView {
    #[serde(flatten)]
    pub(super) flow: FlowView,
    /// The draft (docs/flows.md).
    #[schema(value_type = FlowDraft)]
    definition: Written,
}

impl From<FlowDetails> for FlowDetailsView {
    fn from(details: FlowDetails) -> Self {
        Self { flow: details.listed.into(), definition: details.definition }
    }
}

/// A published version without its definition.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FlowVersion)]
pub(in crate::api) struct VersionView {
    id: FlowVersionId,
    /// 1, 2, 3 ...
    number: i64,
    /// Name of the flow when it was published.
    flow_name: String,
    created_at: IsoTime,
    /// Whether new sessions run it.
    published: bool,
}

impl VersionView {
    /// A version in a list.
    pub(super) fn listed(head: FlowVersionHead, current: Option<&FlowVersionId>) -> Self {
        let FlowVersionHead { id, number, flow_name, created_at } = head;
        let published = current == Some(&id);
        Self { id, number, flow_name, created_at: created_at.into(), published }
    }

    /// A version, which new sessions run or not.
    pub(super) fn of(version: &FlowVersion, published: bool) -> Self {
        Self {
            id: version.id.clone(),
            number: version.number,
            flow_name: version.flow_name.clone(),
            created_at: version.created_at.into(),
            published,
        }
    }
}
