//! The device.

use std::fmt;

use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::id::{UserDeviceId, UserId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;

use super::UserDeviceView;

/// A device that takes push notifications for a user.
#[derive(Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct UserDevice {
    /// The id of the user device.
    pub id: UserDeviceId,
    pub user_id: UserId,
    /// The push service's token, unique: a device that changes hands changes its user.
    pub token: String,
    /// `ios`, `android`, `web` or whatever the client says.
    pub platform: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl Recorded for UserDevice {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::UserDevice, id: self.id.as_str(), router_id: None }
    }

    // A log of changes leaves the token out.
    fn to_json(&self) -> Value {
        public_json(&UserDeviceView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("token", Some(&self.token))]
    }
}

impl fmt::Debug for UserDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserDevice")
            .field("id", &self.id)
            .field("user_id", &self.user_id)
            .finish_non_exhaustive()
    }
}
