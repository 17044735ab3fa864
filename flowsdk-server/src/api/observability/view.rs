//! The settings as clients see them.

use flowsdk_core::integration::BaseUrl;
use flowsdk_core::observability::ObservabilitySettings;
use flowsdk_core::schema::SecureAddress;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// Where the server's telemetry is to go. Kept, and used by nothing yet: this version sends no telemetry.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ObservabilitySettings)]
pub(super) struct ObservabilityView {
    enabled: bool,
    /// The name of the server in its telemetry.
    #[schema(example = "flowsdk")]
    service_name: String,
    /// Null means the service's own address.
    #[schema(value_type = Option<SecureAddress>, required = true)]
    endpoint: Option<BaseUrl>,
    has_token: bool,
    /// Null before the first change.
    #[schema(required = true)]
    updated_at: Option<IsoTime>,
}

impl From<ObservabilitySettings> for ObservabilityView {
    fn from(settings: ObservabilitySettings) -> Self {
        Self {
            enabled: settings.enabled,
            service_name: settings.service_name,
            endpoint: settings.endpoint,
            has_token: settings.logfire_token.is_some(),
            updated_at: settings.updated_at.map(IsoTime::from),
        }
    }
}
