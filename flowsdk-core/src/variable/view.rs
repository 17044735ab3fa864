//! The public form of a variable.

use serde::Serialize;

use super::{Variable, VariableKey};
use crate::id::VariableId;
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// A static variable. The value of a secret is never shown.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Variable)]
pub struct VariableView {
    /// The id of the variable.
    pub id: VariableId,
    key: VariableKey,
    /// Null when it is a secret.
    #[schema(required = true)]
    value: Option<String>,
    is_secret: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<&Variable> for VariableView {
    fn from(variable: &Variable) -> Self {
        Self {
            id: variable.id.clone(),
            key: variable.key.clone(),
            value: variable.value.shown().map(str::to_owned),
            is_secret: variable.value.is_secret(),
            created_at: variable.created_at.into(),
            updated_at: variable.updated_at.into(),
        }
    }
}
