//! Configuration: one struct a section, from the environment names of the contract (spec A 1, 5.1).
//!
//! Every problem is found and reported at once; a value that is a secret is never part of a report.

mod environment;
mod sections;
mod sms;

pub use environment::{ConfigError, Environment};
pub use sections::{Config, Roles, TokenSettings, WebchatSettings};
pub use sms::SmsSettings;
