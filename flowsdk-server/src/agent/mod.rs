//! AI agents: the models of credentials, and the web.

mod models;
mod web;

pub(crate) use models::{ANSWER_TIMEOUT, CredentialModels, OPENAI};
pub(crate) use web::GuardedWeb;
