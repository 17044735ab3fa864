//! The result of an import, as clients see it.

use flowsdk_core::id::{ChannelId, FlowId, RouterId};
use flowsdk_core::transfer::{ImportReport, Landed};
use serde::Serialize;
use utoipa::ToSchema;

/// A flow of the file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportedFlow)]
struct FlowView {
    /// Its name in the file.
    slug: String,
    id: FlowId,
    /// Its name here.
    name: String,
    landed: Landed,
    /// The version that was published, if the file had one.
    #[schema(required = true)]
    published_version: Option<i64>,
}

/// A variable of the router.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedVariable)]
struct VariableView {
    key: String,
    landed: Landed,
}

/// A channel of the file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedChannel)]
struct ChannelView {
    id: ChannelId,
    name: String,
}

/// Something that did not travel.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportMissing)]
struct MissingView {
    /// `channelAppSecret`, `channelVerifyToken`, `embedSecret`, `secretVariable`, or the field of a definition that
    /// names an object that this server does not know: `flowId`, `agentId`, `queueId`, `userId`.
    #[schema(example = "secretVariable")]
    kind: &'static str,
    /// Where in the file.
    #[schema(example = "variables[0]")]
    place: String,
    /// Which, where there can be several.
    #[schema(required = true)]
    name: Option<String>,
    /// The id here of the record that lacks it: the router, the channel, the variable, or the flow whose definition
    /// names it.
    id: String,
}

/// The changes that an import made, and those still to be made by hand.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportReport)]
pub(in crate::api) struct ReportView {
    router_id: RouterId,
    router_name: String,
    flows: Vec<FlowView>,
    variables: Vec<VariableView>,
    channels: Vec<ChannelView>,
    missing: Vec<MissingView>,
}

impl From<ImportReport> for ReportView {
    fn from(report: ImportReport) -> Self {
        let flows = report.flows.into_iter().map(|flow| FlowView {
            slug: flow.slug,
            id: flow.id,
            name: flow.name,
            landed: flow.landed,
            published_version: flow.published_version,
        });
        let variables = report
            .variables
            .into_iter()
            .map(|variable| VariableView { key: variable.key, landed: variable.landed });
        let channels =
            report.channels.into_iter().map(|channel| ChannelView { id: channel.id, name: channel.name });
        let missing = report.missing.into_iter().map(|missing| MissingView {
            kind: missing.kind,
            place: missing.place,
            name: missing.name,
            id: missing.id,
        });
        Self {
            router_id: report.router_id,
            router_name: report.router_name,
            flows: flows.collect(),
            variables: variables.collect(),
            channels: channels.collect(),
            missing: missing.collect(),
        }
    }
}
