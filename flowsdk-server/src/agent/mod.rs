//! AI agents: the models of credentials, the web, and the files that contacts send.

mod media;
mod models;
mod web;

pub(crate) use media::StoredMedia;
pub(crate) use models::{ANSWER_TIMEOUT, CredentialModels, OPENAI, TRANSCRIBER};
pub(crate) use web::GuardedWeb;
