//! The public form of a device.

use std::fmt;

use flowsdk_core::change::View;
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::UserDevice;

/// A device that takes push notifications. Only its user sees it, with its token.
#[derive(Serialize, View, SchemaAttributes)]
#[view(of = UserDevice)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = UserDevice)]
pub struct UserDeviceView {
    /// The id of the device.
    pub id: UserDeviceId,
    user_id: UserId,
    /// The token of the device at the push service.
    #[schema(example = "dGhpcyBpcyBhIHRva2Vu")]
    token: String,
    #[schema(example = "android")]
    platform: String,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl fmt::Debug for UserDeviceView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserDeviceView").field("id", &self.id).finish_non_exhaustive()
    }
}
