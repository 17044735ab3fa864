//! Contacts: the people who write (spec A 2.4).

mod catalog;
mod insight;
mod model;
mod opt_in;
mod opt_in_catalog;
mod repository;
mod search;

pub use catalog::{ContactAlias, ContactCatalog, ContactDetails, ContactFilter, LiveSession, OpenChat};
pub use insight::{ContactInsightRepository, ContactInsights, DayOfMessages, INSIGHT_DAYS};
pub use model::{Contact, ContactChange};
pub use opt_in::{ContactOptIn, OptInRepository, OptInSource, OptInStatus};
pub use opt_in_catalog::{OptInCatalog, OptInFilter};
pub use repository::ContactRepository;
pub use search::{SearchTerm, search_terms, search_text, search_words};
