//! Variables as clients send them.

use flowsdk_core::variable::{NewVariable, VariableKey};
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

/// A variable to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateVariable {
    /// It cannot be changed later.
    key: VariableKey,
    #[schema(value_type = String, max_length = 65_536, example = "https://api.example.com")]
    value: SecretString,
    /// A secret is kept encrypted and never shown.
    #[serde(default)]
    #[schema(required = false, default = false)]
    is_secret: bool,
}

impl From<CreateVariable> for NewVariable {
    fn from(body: CreateVariable) -> Self {
        Self { key: body.key, value: body.value, is_secret: body.is_secret }
    }
}

/// The value that a variable is to have. It is always sent: a stored one is neither opened nor carried over.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PutVariable {
    #[schema(value_type = String, max_length = 65_536, example = "https://api.example.com")]
    pub(super) value: SecretString,
    /// Absent, it stays as it is.
    #[schema(value_type = bool, required = false)]
    pub(super) is_secret: Option<bool>,
}
