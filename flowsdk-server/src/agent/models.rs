//! Opens the models of credentials, those of vectors among them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::executor::Models;
use flowsdk_agent::knowledge::{Embedders, OpenEmbedder};
use flowsdk_agent::model::{ModelError, ModelProvider, Transcriber};
use flowsdk_agent::openai::{OpenAi, Shape};
use flowsdk_core::credential::{LlmCredential, LlmProvider};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::integration::BaseUrl;
use flowsdk_outside::http::{AllowedHosts, guarded_client};
use reqwest::{Client, Url};
use sha2::{Digest as _, Sha256};

/// Where OpenAI is.
pub(crate) const OPENAI: &str = "https://api.openai.com/v1";
/// The model that turns texts into vectors.
const EMBEDDER: &str = "text-embedding-3-small";
/// The model that turns speech into text, unless the configuration names another one.
pub(crate) const TRANSCRIBER: &str = "gpt-4o-mini-transcribe";
/// The dimensions of its vectors.
const DIMENSIONS: u32 = 1_536;
/// How long an answer may take. A model that reasons takes a minute at times.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Opens the models of credentials, at public addresses and at those that are allowed.
pub(crate) struct CredentialModels {
    client: Client,
    allowed: AllowedHosts,
    key: Arc<MasterKey>,
    transcriber: String,
}

impl fmt::Debug for CredentialModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialModels").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl CredentialModels {
    /// Creates the opener; `key` opens the keys of credentials.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn new(allowed: AllowedHosts, key: Arc<MasterKey>) -> reqwest::Result<Self> {
        let client = guarded_client(&allowed, ANSWER_TIMEOUT)?;
        Ok(Self { client, allowed, key, transcriber: TRANSCRIBER.to_owned() })
    }

    /// Has speech turned into text by this model.
    #[must_use]
    pub(crate) fn heard_by(mut self, transcriber: String) -> Self {
        self.transcriber = transcriber;
        self
    }
}

#[async_trait]
impl Models for CredentialModels {
    async fn open(&self, credential: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError> {
        Ok(Arc::new(self.server(credential)?))
    }

    async fn transcriber(&self, credential: &LlmCredential) -> Result<Arc<dyn Transcriber>, ModelError> {
        Ok(Arc::new(self.server(credential)?.transcriber(self.transcriber.clone())))
    }
}

/// A router without a credential has vectors without a model, so that a demonstration needs no key.
#[async_trait]
impl Embedders for CredentialModels {
    async fn open(&self, credential: Option<&LlmCredential>) -> Result<OpenEmbedder, ModelError> {
        let Some(credential) = credential else { return Ok(OpenEmbedder::hashing()) };
        let embedder = self.server(credential)?.embedder(EMBEDDER.to_owned(), DIMENSIONS);
        Ok(OpenEmbedder { model: embedder_name(credential), embedder: Arc::new(embedder) })
    }
}

/// Returns the name of the vectors of a credential. Another server may have another model by the same name; its address is
/// not shown to everybody who sees documents.
fn embedder_name(credential: &LlmCredential) -> String {
    match &credential.base_url {
        None => EMBEDDER.to_owned(),
        Some(base) => {
            let digest = hex::encode(Sha256::digest(base.to_string()));
            format!("{EMBEDDER} of server {}", digest.get(..8).unwrap_or_default())
        }
    }
}

impl CredentialModels {
    /// Returns the server of a credential, with its account there.
    fn server(&self, credential: &LlmCredential) -> Result<OpenAi, ModelError> {
        let account = |reason: &str| ModelError::Account { reason: reason.to_owned() };
        let base = match &credential.base_url {
            Some(base) => base.clone(),
            None if credential.provider == LlmProvider::Openai => {
                OPENAI.parse::<BaseUrl>().map_err(|_| account("the credential has no address"))?
            }
            None => return Err(account("the credential has no address")),
        };
        let host = Url::parse(base.as_str()).ok().and_then(|url| url.host_str().map(str::to_owned));
        if !host.is_some_and(|host| self.allowed.permits(&host)) {
            return Err(account("the address of the credential is not public"));
        }
        let key = match &credential.api_key {
            Some(key) => self.key.decrypt(key).map_err(|_| account("the key cannot be decrypted"))?,
            None if credential.provider == LlmProvider::Openai => {
                return Err(account("the credential has no key"));
            }
            None => "".into(),
        };
        let shape = match credential.provider {
            LlmProvider::Openai => Shape::Responses,
            LlmProvider::OpenaiCompatible => Shape::ChatCompletions,
        };
        Ok(OpenAi::new(self.client.clone(), base, key, shape))
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_agent::knowledge::HASHING;
    use flowsdk_core::crypto::Encrypted;
    use flowsdk_core::time::Timestamp;

    use super::*;

    fn credential(
        provider: LlmProvider,
        base_url: Option<&str>,
        api_key: Option<Encrypted>,
    ) -> LlmCredential {
        LlmCredential {
            id: "c".parse().expect("an id"),
            name: "C".to_owned(),
            provider,
            base_url: base_url.map(|url| url.parse().expect("an address")),
            api_key,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[tokio::test]
    async fn vectors_are_named_after_their_model_and_its_server() {
        let key = Arc::new(MasterKey::new("0123456789abcdef0123456789abcdef").expect("a key"));
        let sealed = key.encrypt("sk-test");
        let models = CredentialModels::new(AllowedHosts::default(), key).expect("TLS");
        let open = async |credential: Option<&LlmCredential>| Embedders::open(&models, credential).await;
        assert_eq!(open(None).await.expect("without a key").model, HASHING);
        let own = credential(LlmProvider::Openai, None, Some(sealed.clone()));
        assert_eq!(open(Some(&own)).await.expect("a model").model, "text-embedding-3-small");
        let other = credential(LlmProvider::OpenaiCompatible, Some("https://llm.example/v1"), Some(sealed));
        let other = open(Some(&other)).await.expect("a model").model;
        assert!(other.starts_with("text-embedding-3-small of server ") && !other.contains("llm"), "{other}");
        let keyless = credential(LlmProvider::Openai, None, None);
        assert!(matches!(open(Some(&keyless)).await, Err(ModelError::Account { .. })));
    }
}
