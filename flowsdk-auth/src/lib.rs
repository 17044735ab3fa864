//! Who may administer: user accounts and the administrator that a new installation begins with.

pub mod bootstrap;
pub mod user;
