//! The commands that register and change a device.

use std::fmt;

use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use serde::Deserialize;

use super::UserDevice;

/// A new device.
#[derive(Clone, Deserialize, SchemaAttributes)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateUserDevice)]
pub struct NewUserDevice {
    /// The token of the device at the push service.
    #[schema(min_length = 1, max_length = 4096, example = "dGhpcyBpcyBhIHRva2Vu")]
    pub token: String,
    /// The platform of the device, as its client names it.
    #[schema(min_length = 1, max_length = 50, example = "android")]
    pub platform: String,
}

/// The changes to make to a device; an absent field stays.
#[derive(Clone, Default, Deserialize, SchemaAttributes)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchUserDevice)]
pub struct UserDeviceChange {
    /// The token of the device at the push service.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 4096, example = "bmV3IHRva2Vu")]
    pub token: Option<String>,
    /// The platform of the device, as its client names it.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 50, example = "ios")]
    pub platform: Option<String>,
}

impl UserDeviceChange {
    /// Returns the device after the change.
    pub(super) fn apply(self, mut device: UserDevice, now: Timestamp) -> UserDevice {
        device.token = self.token.unwrap_or(device.token);
        device.platform = self.platform.unwrap_or(device.platform);
        device.updated_at = now;
        device
    }
}

impl fmt::Debug for NewUserDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewUserDevice").field("platform", &self.platform).finish_non_exhaustive()
    }
}

impl fmt::Debug for UserDeviceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserDeviceChange").field("platform", &self.platform).finish_non_exhaustive()
    }
}
