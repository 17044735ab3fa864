//! A variable as clients see it.

use flowsdk_core::id::VariableId;
use flowsdk_core::time::IsoTime;
use flowsdk_core::variable::{Variable, VariableKey};
use serde::Serialize;
use utoipa::ToSchema;

/// A static variable. The value of a secret is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Variable)]
pub(super) struct VariableView {
    id: VariableId,
    key: VariableKey,
    /// Null when it is a secret.
    #[schema(required = true)]
    value: Option<String>,
    is_secret: bool,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl VariableView {
    /// Its id.
    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }
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
