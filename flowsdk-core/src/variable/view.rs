//! The public form of a variable.

use serde::Serialize;

use super::{Variable, VariableKey};
use crate::change::View;
use crate::id::{FlowId, RouterId, VariableId};
use crate::router::VariableOwner;
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A static variable. The value of a secret is never shown.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = Variable)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Variable)]
pub struct VariableView {
    /// The id of the variable.
    pub id: VariableId,
    /// Its router; of a variable of a flow there is `flowId` instead.
    #[view(with = router_id)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RouterId, required = false)]
    router_id: Option<RouterId>,
    /// Its flow.
    #[view(with = flow_id)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = FlowId, required = false)]
    flow_id: Option<FlowId>,
    key: VariableKey,
    /// Null when it is a secret.
    #[view(with = shown)]
    #[schema(required = true)]
    value: Option<String>,
    #[view(with = is_secret)]
    is_secret: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

fn router_id(variable: &Variable) -> Option<RouterId> {
    match &variable.owner {
        VariableOwner::Router(id) => Some(id.clone()),
        VariableOwner::Flow(_) => None,
    }
}

fn flow_id(variable: &Variable) -> Option<FlowId> {
    match &variable.owner {
        VariableOwner::Flow(id) => Some(id.clone()),
        VariableOwner::Router(_) => None,
    }
}

fn shown(variable: &Variable) -> Option<String> {
    variable.value.shown().map(str::to_owned)
}

fn is_secret(variable: &Variable) -> bool {
    variable.value.is_secret()
}
