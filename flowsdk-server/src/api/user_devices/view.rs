//! A device as clients see it.

use flowsdk_auth::device::UserDevice;
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// A device that takes push notifications.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserDevice)]
pub(super) struct UserDeviceView {
    pub(super) id: UserDeviceId,
    user_id: UserId,
    /// The push service's.
    #[schema(example = "dGhpcyBpcyBhIHRva2Vu")]
    token: String,
    #[schema(example = "android")]
    platform: String,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<UserDevice> for UserDeviceView {
    fn from(device: UserDevice) -> Self {
        Self {
            id: device.id,
            user_id: device.user_id,
            token: device.token,
            platform: device.platform,
            created_at: device.created_at.into(),
            updated_at: device.updated_at.into(),
        }
    }
}
