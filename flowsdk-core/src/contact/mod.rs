//! Contacts: the people who write (spec A 2.4).

mod model;
mod repository;

pub use model::{Contact, ContactChange};
pub use repository::ContactRepository;
