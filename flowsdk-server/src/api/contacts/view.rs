//! Contacts as clients see them.

use flowsdk_core::contact::{Contact, ContactAlias, ContactDetails};
use flowsdk_core::id::ContactId;
use flowsdk_core::session::Channel;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A person, shared by all routers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Contact)]
pub(in crate::api) struct ContactView {
    id: ContactId,
    /// The unique identity: digits of a number in E.164, `wc-<channelId>-<userId>` or `ig-<igsid>`.
    #[schema(example = "5511987654321")]
    phone_number: String,
    #[schema(example = "Ana Smith")]
    name: String,
    /// Whether no channel overwrites the name any more.
    name_locked: bool,
    #[schema(required = true)]
    origin: Option<Channel>,
    /// Shared by all routers.
    #[schema(value_type = Object, additional_properties = true)]
    contact_variables: Map<String, Value>,
    created_at: IsoTime,
}

impl From<Contact> for ContactView {
    fn from(contact: Contact) -> Self {
        Self {
            id: contact.id,
            phone_number: contact.phone_number,
            name: contact.name,
            name_locked: contact.name_locked,
            origin: contact.origin,
            contact_variables: contact.variables,
            created_at: contact.created_at.into(),
        }
    }
}

/// Another identity of a contact.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ContactAlias)]
pub(super) struct AliasView {
    #[schema(example = "551187654321")]
    alias: String,
    created_at: IsoTime,
}

impl From<ContactAlias> for AliasView {
    fn from(alias: ContactAlias) -> Self {
        Self { alias: alias.alias, created_at: alias.created_at.into() }
    }
}

/// A contact with everything that is known of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ContactDetails)]
pub(super) struct ContactDetailsView {
    #[serde(flatten)]
    contact: ContactView,
    /// Summary of the history; AI agents read it, no route writes it.
    #[schema(required = true)]
    context: Option<String>,
    /// Summary of the latest session.
    #[schema(required = true)]
    last_session_summary: Option<String>,
    /// The other identities, oldest first.
    aliases: Vec<AliasView>,
}

impl ContactDetailsView {
    /// Its id.
    pub(super) fn id(&self) -> String {
        self.contact.id.to_string()
    }
}

impl From<ContactDetails> for ContactDetailsView {
    fn from(details: ContactDetails) -> Self {
        let ContactDetails { contact, context, last_session_summary, aliases } = details;
        let aliases = aliases.into_iter().map(AliasView::from).collect();
        Self { contact: contact.into(), context, last_session_summary, aliases }
    }
}
