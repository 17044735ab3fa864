//! AI agents: the models of credentials, and the files that contacts send.

mod media;
mod models;

pub(crate) use media::StoredMedia;
pub(crate) use models::{ANSWER_TIMEOUT, CredentialModels, OPENAI, TRANSCRIBER};
