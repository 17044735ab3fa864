//! Saved filters of the list of contacts: the people of a router keep a search under a name.

mod model;
mod repository;
mod service;

pub use model::{NewSavedFilter, SavedFilter, SavedFilterChange, SavedFilterId};
pub use repository::{HasSavedFilters, SavedFilterRepository};
pub use service::{SavedFilterError, SavedFilters};
