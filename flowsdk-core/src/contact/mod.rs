//! Contacts: the people who write (spec A 2.4).

mod model;
mod opt_in;
mod repository;

pub use model::{Contact, ContactChange};
pub use opt_in::{ContactOptIn, OptInRepository, OptInSource, OptInStatus};
pub use repository::ContactRepository;
