//! Saved filters of the list of contacts: the people of a router keep a search under a name.

mod error;
mod model;

pub use error::SavedFilterError;
pub use model::{NewSavedFilter, SavedFilter, SavedFilterChange, SavedFilterId};

use crate::record::RouterRecords;

/// The use cases of saved filters.
pub type SavedFilters<S> = RouterRecords<S, SavedFilter>;
