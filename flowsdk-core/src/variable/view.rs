//! The public form of a variable.

use serde::Serialize;

use super::{Variable, VariableKey};
use crate::change::View;
use crate::id::VariableId;
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

fn shown(variable: &Variable) -> Option<String> {
    variable.value.shown().map(str::to_owned)
}

fn is_secret(variable: &Variable) -> bool {
    variable.value.is_secret()
}
