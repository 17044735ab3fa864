//! Contacts: the people who write (spec A 2.4).

mod catalog;
mod identity;
mod insight;
mod model;
mod news;
mod opt_in;
mod opt_in_catalog;
mod repository;
mod search;

pub use catalog::{
    ContactAlias, ContactCatalog, ContactDetails, ContactFilter, HasContactCatalog, LiveSession, OpenChat,
};

pub(crate) use identity::is_of_webchat;
pub use identity::{
    Alias, ContactIdentity, InvalidIdentity, MAX_IDENTITY, PHONE_DESCRIPTION, PHONE_PATTERN, channel_in,
    forms_of, is_phone_number, is_user_id, other_form, phone_digits,
};
pub use insight::{
    ContactInsightRepository, ContactInsights, DayOfMessages, HasContactInsights, INSIGHT_DAYS,
};
pub use model::{Contact, ContactChange, MAX_NAME, UNNAMED_VISITOR, clean_name};
pub use news::ContactNews;
pub use opt_in::{
    ContactOptIn, HasOptIns, OptInRepository, OptInSource, OptInStatus, ToldOptIn, follow_provider,
};
pub use opt_in_catalog::{HasOptInCatalog, OptInCatalog, OptInFilter};
pub use repository::{ContactRepository, HasContacts, find_by_either_form};
pub use search::{SearchTerm, search_terms, search_text, search_words};
