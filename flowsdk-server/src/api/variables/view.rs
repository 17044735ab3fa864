//! A variable as clients see it.

use flowsdk_core::id::VariableId;
use flowsdk_core::variable::Variable;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::openapi::types::{Id, IsoTime, VariableKeyName};

/// A static variable. The value of a secret is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Variable)]
pub(super) struct VariableView {
    #[schema(value_type = Id)]
    id: VariableId,
    #[schema(value_type = VariableKeyName)]
    key: String,
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
            key: variable.key.to_string(),
            value: variable.value.shown().map(str::to_owned),
            is_secret: variable.value.is_secret(),
            created_at: variable.created_at.into(),
            updated_at: variable.updated_at.into(),
        }
    }
}
