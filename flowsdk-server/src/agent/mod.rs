//! AI agents: the models of credentials.

mod models;

pub(crate) use models::{ANSWER_TIMEOUT, CredentialModels, OPENAI};
