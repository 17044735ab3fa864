//! The saved filter. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::SavedFilterError;
use crate::id::{Id, IdSource, RouterId};
use crate::name::Name;
use crate::patch::present;
use crate::record::{NewRecord, RecordChange, RouterRecord};
use crate::router::{Reach, Reachable};
use crate::schema::SchemaAttributes;
use crate::session::Channel;
#[cfg(feature = "schema")]
use crate::time::IsoTime;
use crate::time::{Timestamp, as_iso};

/// Identifier of a saved filter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct SavedFilterId(Arc<str>);

/// A filter of the list of contacts, kept under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = ContactFilter, error = SavedFilterError, search = name)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ContactFilter)]
pub struct SavedFilter {
    /// The id of the filter.
    pub id: SavedFilterId,
    /// The router whose people use the filter. It never changes.
    pub router_id: RouterId,
    /// The name that people choose it by.
    #[schema(example = "Customers of the shop")]
    pub name: String,
    /// The text to search for, as `q` of the list of contacts; null keeps every contact.
    #[schema(required = true, example = "ana smi")]
    pub q: Option<String>,
    /// The channel that the contacts came by; null keeps every channel.
    #[schema(required = true)]
    pub origin: Option<Channel>,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A new filter.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateContactFilter)]
pub struct NewSavedFilter {
    /// The router whose people use the filter. It cannot be changed later.
    pub router_id: RouterId,
    /// The name that people choose it by.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Customers of the shop")]
    pub name: Name,
    /// The text to search for, as `q` of the list of contacts.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "ana smi")]
    pub q: Option<String>,
    /// The channel that the contacts came by.
    pub origin: Option<Channel>,
}

impl Reachable for NewSavedFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewSavedFilter {
    type Record = SavedFilter;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> SavedFilter {
        SavedFilter {
            id: SavedFilterId::generate(ids),
            router_id: self.router_id,
            name: self.name.into(),
            q: self.q,
            origin: self.origin,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a filter; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchContactFilter)]
pub struct SavedFilterChange {
    /// The new name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// The text to search for; null keeps every contact.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200, pattern = r"\S")]
    pub q: Option<Option<String>>,
    /// The channel that the contacts came by; null keeps every channel.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Channel>)]
    pub origin: Option<Option<Channel>>,
}

impl RecordChange for SavedFilterChange {
    type Record = SavedFilter;

    fn apply(self, filter: SavedFilter) -> SavedFilter {
        SavedFilter {
            name: self.name.map_or(filter.name, String::from),
            q: self.q.unwrap_or(filter.q),
            origin: self.origin.unwrap_or(filter.origin),
            ..filter
        }
    }
}
