//! The phone channel: WhatsApp Business numbers.
//!
//! [`PhoneIntake`] takes the deliveries of the provider, which [`webhook`] reads.

mod account;
mod accounts;
mod appender;
pub mod dispatch;
pub mod graph;
mod intake;
mod media;
mod news;
mod reading;
mod receipts;
pub mod sending;
pub mod webhook;

pub use account::{AccountNumber, HasPhoneAccounts, PhoneAccountRepository};
pub use appender::IntakeWriter;
pub use intake::{IntakeError, PhoneIntake, Unsigned};
pub use media::MediaFetcher;
pub use news::{NEWS_GROUP, NewsFollower};
pub use reading::Taken;
pub use receipts::{RECEIPTS_GROUP, ReceiptTeller};
