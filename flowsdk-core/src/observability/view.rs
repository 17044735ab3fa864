//! The public form of the settings.

use serde::Serialize;

use super::ObservabilitySettings;
use crate::change::View;
use crate::integration::BaseUrl;
use crate::schema::SchemaAttributes;
use crate::time::IsoTime;

/// Where the server's telemetry is to go. Kept, and used by nothing yet: this version sends no telemetry.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = ObservabilitySettings)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ObservabilitySettings)]
pub struct ObservabilityView {
    enabled: bool,
    /// The name of the server in its telemetry.
    #[schema(example = "flowsdk")]
    service_name: String,
    /// Null means the service's own address.
    #[schema(value_type = Option<crate::schema::SecureAddress>, required = true)]
    endpoint: Option<BaseUrl>,
    #[view(some = logfire_token)]
    has_token: bool,
    /// Null before the first change.
    #[schema(required = true)]
    updated_at: Option<IsoTime>,
}
