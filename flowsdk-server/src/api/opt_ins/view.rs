//! Opt-ins as clients see them.

use flowsdk_core::contact::{Contact, ContactOptIn, OptInSource, OptInStatus};
use flowsdk_core::id::{ChatId, ContactId, RouterId};
use flowsdk_core::schema::AnyId;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::contacts::ContactView;

/// A contact's answer to whether a router may write to them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OptIn)]
pub(in crate::api) struct OptInView {
    #[schema(value_type = AnyId)]
    id: String,
    contact_id: ContactId,
    router_id: RouterId,
    status: OptInStatus,
    /// The chat in which it was said.
    #[schema(required = true)]
    chat_id: Option<ChatId>,
    source: OptInSource,
    recorded_at: IsoTime,
}

impl From<ContactOptIn> for OptInView {
    fn from(record: ContactOptIn) -> Self {
        Self {
            id: record.id,
            contact_id: record.contact_id,
            router_id: record.router_id,
            status: record.status,
            chat_id: record.chat_id,
            source: record.source,
            recorded_at: record.recorded_at.into(),
        }
    }
}

/// The newest opt-in record of a contact of a router.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RouterOptIn)]
pub(super) struct RouterOptInView {
    #[schema(value_type = AnyId)]
    id: String,
    contact: ContactView,
    status: OptInStatus,
    /// The chat in which it was said.
    #[schema(required = true)]
    chat_id: Option<ChatId>,
    source: OptInSource,
    recorded_at: IsoTime,
}

impl From<(ContactOptIn, Contact)> for RouterOptInView {
    fn from((record, contact): (ContactOptIn, Contact)) -> Self {
        Self {
            id: record.id,
            contact: contact.into(),
            status: record.status,
            chat_id: record.chat_id,
            source: record.source,
            recorded_at: record.recorded_at.into(),
        }
    }
}
