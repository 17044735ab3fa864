//! Integrations of routers: servers of others, with the credentials that they want to see (spec A 2.9, 4.7).
//!
//! The credentials are opened only here, for the request that they are for. They are in no answer, no log, no
//! error and no cache.

mod address;
mod error;
mod fetch;
mod model;
mod redact;
mod repository;
mod service;
mod view;

pub use address::{BaseUrl, InvalidBaseUrl};
pub use error::IntegrationError;
pub use fetch::{Fetch, Fetched};
pub use model::{
    DEFAULT_TIMEOUT, Integration, IntegrationAuth, IntegrationChange, IntegrationKind, IntegrationSettings,
    MAX_TIMEOUT, NewIntegration,
};
pub use repository::{HasIntegrations, IntegrationRepository};
pub use service::Integrations;
pub use view::IntegrationView;
