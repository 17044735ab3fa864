//! Who may administer: user accounts, the administrator that a new installation begins with, and the port
//! for text messages to users.

pub mod bootstrap;
pub mod sms;
pub mod user;
