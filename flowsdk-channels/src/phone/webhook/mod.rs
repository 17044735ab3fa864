//! Webhooks of the provider: their signature, and what they tell.
//!
//! A delivery comes at least once, in any order, and may tell of many messages and statuses of many numbers at once
//! (WhatsApp Business Platform, "Webhooks").

mod account;
mod delivery;
mod loose;
mod message;
mod preference;
mod shape;
mod signature;
mod status;
mod surrogates;
mod template;
#[cfg(test)]
mod tests;

pub use account::AccountNews;
pub use delivery::{Delivery, DeliveryError, News, Told};
pub use loose::Fields;
pub use message::{NumberChange, PhoneMessage, Sender};
pub use preference::Preference;
pub use signature::{SIGNATURE_HEADER, Signature, keyed_digest, sign};
pub use status::PhoneStatus;
pub(super) use surrogates::mended;
