//! Opens the models of credentials.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_agent::executor::Models;
use flowsdk_agent::model::{ModelError, ModelProvider};
use flowsdk_agent::openai::{OpenAi, Shape};
use flowsdk_core::credential::{LlmCredential, LlmProvider};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::integration::BaseUrl;
use flowsdk_outside::http::{AllowedHosts, guarded_client};
use reqwest::{Client, Url};

/// Where OpenAI is.
const OPENAI: &str = "https://api.openai.com/v1";
/// How long an answer may take. A model that reasons takes a minute at times.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Opens the models of credentials, at public addresses and at those that are allowed.
pub(crate) struct CredentialModels {
    client: Client,
    allowed: AllowedHosts,
    key: Arc<MasterKey>,
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
        Ok(Self { client: guarded_client(&allowed, ANSWER_TIMEOUT)?, allowed, key })
    }
}

#[async_trait]
impl Models for CredentialModels {
    async fn open(&self, credential: &LlmCredential) -> Result<Arc<dyn ModelProvider>, ModelError> {
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
        Ok(Arc::new(OpenAi::new(self.client.clone(), base, key, shape)))
    }
}
