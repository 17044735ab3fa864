//! Credentials of model providers, which routers name for their AI agents (spec A 2.2, 2.9). They are global.

mod error;
mod model;
mod repository;
mod service;
mod view;

pub use error::LlmCredentialError;
pub use model::{LlmCredential, LlmCredentialChange, LlmProvider, NewLlmCredential};
pub use repository::{HasLlmCredentials, LlmCredentialRepository};
pub use service::LlmCredentials;
pub use view::LlmCredentialView;
