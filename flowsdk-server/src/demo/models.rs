//! The model of the assistants: rules of the demonstration, so that they need no key and no network.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_agent::executor::Models;
use flowsdk_agent::model::{Answer, ModelError, ModelProvider, ModelRequest, Transcriber};
use flowsdk_agent::scripted::{InvalidScript, Script, Scripted};
use flowsdk_core::credential::LlmCredential;
use flowsdk_core::fault::BoxError;

use super::assistant::CREDENTIAL;
use crate::agent::CredentialModels;
use crate::config::Config;

/// Opens the scripted models for the credential of the demonstration, and what every server opens for all others.
#[derive(Debug)]
struct DemoModels {
    scripted: Arc<Scripts>,
    others: CredentialModels,
}

/// Returns the models of a demonstration with this configuration.
///
/// # Errors
/// TLS cannot be set up.
pub fn models(config: &Config) -> Result<Arc<dyn Models>, BoxError> {
    let others =
        CredentialModels::new(config.flow_http_allowed_hosts.clone(), Arc::clone(&config.master_key))?
            .heard_by(config.agent_transcriber.clone());
    Ok(Arc::new(DemoModels { scripted: Arc::new(Scripts::read()?), others }))
}

#[async_trait]
impl Models for DemoModels {
    async fn open(&self, credential: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError> {
        if credential.id.as_str() == CREDENTIAL {
            return Ok(Arc::clone(&self.scripted) as _);
        }
        Models::open(&self.others, credential).await
    }

    async fn transcriber(&self, credential: &LlmCredential) -> Result<Arc<dyn Transcriber>, ModelError> {
        if credential.id.as_str() == CREDENTIAL {
            return Err(ModelError::Refused { reason: "the scripted models hear nothing".to_owned() });
        }
        self.others.transcriber(credential).await
    }
}

/// A model for each language.
#[derive(Debug)]
struct Scripts {
    portuguese: Scripted,
    english: Scripted,
}

impl Scripts {
    fn read() -> Result<Self, InvalidScript> {
        let read = |text| Script::parse(text).map(Scripted::new);
        Ok(Self {
            portuguese: read(include_str!("script.pt.json"))?,
            english: read(include_str!("script.en.json"))?,
        })
    }
}

#[async_trait]
impl ModelProvider for Scripts {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        match request.model {
            "scripted-pt" => self.portuguese.answer(request).await,
            "scripted-en" => self.english.answer(request).await,
            other => Err(ModelError::Refused { reason: format!("there is no script for {other}") }),
        }
    }
}
