//! AI agents: the models of credentials.

mod models;

pub(crate) use models::CredentialModels;
