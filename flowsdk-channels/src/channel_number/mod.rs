//! Numbers of the phone channel, as they are administered, with the keys of their interactive forms
//! (spec A 2.9, 4.7).

mod error;
mod health;
mod keys;
mod model;
mod provider;
mod registration;
mod repository;
mod service;
mod view;

pub use error::ChannelNumberError;
pub use health::{ChannelNumberHealth, HealthError, HealthStatus};
pub use keys::ExportedKey;
pub use model::{ChannelNumber, ChannelNumberChange, FormKeys, NewChannelNumber};
pub use provider::{E164, InvalidNumber, InvalidProviderId, ProviderId};
pub use registration::{FormKeyRegistration, FormKeyRegistry, RegistrationError};
pub use repository::{ChannelNumberRepository, HasChannelNumbers};
pub use service::ChannelNumbers;
pub use view::ChannelNumberView;
