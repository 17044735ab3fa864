//! Opt-ins as clients see them.

use flowsdk_core::contact::{Contact, ContactOptIn};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::contacts::ContactView;
use crate::api::openapi::types::{Id, IsoTime, OptInSourceName, OptInStatusName};

/// What a contact said to being written to by a router.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OptIn)]
pub(in crate::api) struct OptInView {
    #[schema(value_type = Id)]
    id: String,
    #[schema(value_type = Id)]
    contact_id: String,
    #[schema(value_type = Id)]
    router_id: String,
    #[schema(value_type = OptInStatusName)]
    status: &'static str,
    /// The chat in which it was said.
    #[schema(value_type = Option<Id>, required = true)]
    chat_id: Option<String>,
    #[schema(value_type = OptInSourceName)]
    source: &'static str,
    recorded_at: IsoTime,
}

impl From<ContactOptIn> for OptInView {
    fn from(record: ContactOptIn) -> Self {
        Self {
            id: record.id,
            contact_id: record.contact_id.into(),
            router_id: record.router_id.into(),
            status: record.status.name(),
            chat_id: record.chat_id.map(String::from),
            source: record.source.name(),
            recorded_at: record.recorded_at.into(),
        }
    }
}

/// What a contact of a router last said.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RouterOptIn)]
pub(super) struct RouterOptInView {
    #[schema(value_type = Id)]
    id: String,
    contact: ContactView,
    #[schema(value_type = OptInStatusName)]
    status: &'static str,
    /// The chat in which it was said.
    #[schema(value_type = Option<Id>, required = true)]
    chat_id: Option<String>,
    #[schema(value_type = OptInSourceName)]
    source: &'static str,
    recorded_at: IsoTime,
}

impl From<(ContactOptIn, Contact)> for RouterOptInView {
    fn from((record, contact): (ContactOptIn, Contact)) -> Self {
        Self {
            id: record.id,
            contact: contact.into(),
            status: record.status.name(),
            chat_id: record.chat_id.map(String::from),
            source: record.source.name(),
            recorded_at: record.recorded_at.into(),
        }
    }
}
