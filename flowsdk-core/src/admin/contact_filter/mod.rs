//! Saved filters of the list of contacts: the people of a router keep a search under a name.

mod model;
mod repository;
mod service;

pub use model::{ContactFilterChange, ContactFilterId, NewContactFilter, SavedContactFilter};
pub use repository::{ContactFilterRepository, HasContactFilters};
pub use service::{ContactFilterError, ContactFilters};
