//! The result of an import, as clients see it.

use flowsdk_core::id::{ChannelId, FlowId, RouterId};
use flowsdk_core::transfer::{ImportReport, Landed};
use serde::{Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::api::openapi::types::Id;

/// What became of a thing of the file.
#[derive(Debug)]
struct LandedView(Landed);

impl Serialize for LandedView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl PartialSchema for LandedView {
    fn schema() -> RefOr<Schema> {
        let names = Landed::ALL.map(Landed::name);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build().into()
    }
}

impl ToSchema for LandedView {
    fn name() -> std::borrow::Cow<'static, str> {
        "ImportLanded".into()
    }
}

/// A flow of the file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportedFlow)]
struct FlowView {
    /// What the file calls it.
    slug: String,
    #[schema(value_type = Id)]
    id: FlowId,
    /// Its name here.
    name: String,
    landed: LandedView,
    /// The version that was published, if the file had one.
    #[schema(required = true)]
    published_version: Option<i64>,
}

/// A variable of the router.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedVariable)]
struct VariableView {
    key: String,
    landed: LandedView,
}

/// A channel of the file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportedChannel)]
struct ChannelView {
    #[schema(value_type = Id)]
    id: ChannelId,
    name: String,
}

/// Something that did not travel.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportMissing)]
struct MissingView {
    /// `channelAppSecret`, `channelVerifyToken`, `embedSecret`, `secretVariable`, or the field of a definition that
    /// names what this server does not know: `flowId`, `agentId`, `queueId`, `userId`.
    #[schema(example = "secretVariable")]
    kind: &'static str,
    /// Where in the file.
    #[schema(example = "variables[0]")]
    place: String,
    /// Which, where there can be several.
    #[schema(required = true)]
    name: Option<String>,
}

/// What an import did, and what is still to be done by hand.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportReport)]
pub(super) struct ReportView {
    #[schema(value_type = Id)]
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
            landed: LandedView(flow.landed),
            published_version: flow.published_version,
        });
        let variables = report
            .variables
            .into_iter()
            .map(|variable| VariableView { key: variable.key, landed: LandedView(variable.landed) });
        let channels =
            report.channels.into_iter().map(|channel| ChannelView { id: channel.id, name: channel.name });
        let missing = report.missing.into_iter().map(|missing| MissingView {
            kind: missing.kind,
            place: missing.place,
            name: missing.name,
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
