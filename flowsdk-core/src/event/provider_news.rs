//! `stream:provider-news`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::RouterId;
use crate::session::Channel;
use crate::time::Timestamp;

/// A change that a provider tells of a business account, besides messages and statuses: such as a contact who wants no more
/// offers, or a template that was paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderNews {
    /// The channel of the account.
    pub channel_type: Channel,
    /// The provider's id of the account.
    pub account_id: String,
    /// The routers for which it counts: those whose app has signed it, of the number that it is about or of the account.
    pub router_ids: Vec<RouterId>,
    /// The provider's name of the change.
    pub field: String,
    /// The change, as it came.
    pub value: Map<String, Value>,
    /// When it came.
    pub timestamp: Timestamp,
}
