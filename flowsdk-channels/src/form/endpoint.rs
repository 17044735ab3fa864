//! The endpoint of interactive forms: a question of a contact's app is answered by a tool.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::conversation::{ConversationTx, ToolCall, ToolCallError, ToolCalls};
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, MessageId, RouterId};
use flowsdk_core::message::HasMessages as _;
use flowsdk_core::store::Store;
use flowsdk_core::text::{Language, Text};
use flowsdk_crypto::{ExchangeKey, FormKey, SealedQuestion};

use super::exchange::{FormAnswer, FormQuestion, ScreenQuestion};
use super::{FormId, HasFormDefinitions};
use crate::channel_number::FormKeys;
use crate::phone::webhook::Signature;

/// How long a tool may take. The app of a contact waits for ten seconds.
const TIMEOUT: Duration = Duration::from_secs(9);
/// The words for a contact whose form counts no more.
const EXPIRED: Text = Text::new(
    "Este formulário expirou. Escreva para nós e enviaremos outro.",
    "This form has expired. Write to us, and we will send another one.",
);

/// What answers the questions of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormGate {
    /// The router of the form.
    pub router_id: RouterId,
    /// The tool that answers, if there is one.
    pub flow_id: Option<FlowId>,
    /// The secret of the router's app, which signs the questions.
    pub app_secret: Option<Encrypted>,
    /// The keys of the form's number, or of all numbers of the router where it names none.
    pub keys: Vec<FormKeys>,
}

/// The reason why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum FormEndpointError {
    /// There is no such form.
    #[error("no such form")]
    Unknown,
    /// The signature is not one of the router's app.
    #[error("not signed by the app of the router")]
    Unsigned,
    /// No signature can be right: the router has no app.
    #[error("the router of the form has no channelAppSecret")]
    NoSecret,
    /// It is not encrypted for a key of the router: the app of the contact asks for the public key again.
    #[error("not encrypted for a key of the router")]
    Undecipherable,
    /// The form counts no more. The answer, encrypted, says so.
    #[error("the message or its session is gone")]
    Expired(String),
    /// The question is none, or the tool has no answer to it.
    #[error("{0}")]
    Unanswered(String),
    /// The database cannot be asked.
    #[error("storage failed")]
    Storage(#[from] StorageError),
}

/// Answers questions of forms.
#[derive(Debug)]
pub struct FormEndpoint<S> {
    store: Arc<S>,
    tools: ToolCalls<S>,
    key: Arc<MasterKey>,
    language: Language,
}

impl<S: Store> FormEndpoint<S>
where
    S::Tx: ConversationTx + HasFormDefinitions,
{
    /// Creates an endpoint for the forms of `store`. Contacts are told in `language` that a form counts no more.
    pub fn new(store: Arc<S>, tools: ToolCalls<S>, key: Arc<MasterKey>, language: Language) -> Self {
        Self { store, tools, key, language }
    }

    /// Answers a question; returns the encrypted answer. The signature is looked at before anything else of the body.
    ///
    /// # Errors
    /// [`FormEndpointError`].
    pub async fn answer(
        &self,
        form: &FormId,
        signature: Option<&str>,
        body: &[u8],
    ) -> Result<String, FormEndpointError> {
        let signature = signature.and_then(Signature::parse).ok_or(FormEndpointError::Unsigned)?;
        let gate = self.store.read().await?.form_definitions().gate(form).await?;
        let gate = gate.ok_or(FormEndpointError::Unknown)?;
        let secret = gate.app_secret.as_ref().and_then(|secret| self.key.decrypt(secret).ok());
        if !signature.is_of(&secret.ok_or(FormEndpointError::NoSecret)?, body) {
            return Err(FormEndpointError::Unsigned);
        }
        let (question, exchange) = self.open(&gate, body).await?;
        let Some(question) = FormQuestion::read(&question) else {
            return Err(FormEndpointError::Unanswered("a question that no form asks".to_owned()));
        };
        let answer = match question {
            FormQuestion::Ping => FormAnswer::Active,
            FormQuestion::ErrorNotice(notice) => {
                tracing::warn!(%form, %notice, "a form could not show what it was answered");
                FormAnswer::Acknowledged
            }
            FormQuestion::Screen(question) => self.ask(&gate, &question).await?,
        };
        let sealed = exchange.seal_answer(answer.to_json().to_string().as_bytes());
        let sealed = sealed.map_err(|error| FormEndpointError::Unanswered(error.to_string()))?;
        if matches!(answer, FormAnswer::Expired { .. }) {
            return Err(FormEndpointError::Expired(sealed));
        }
        Ok(sealed)
    }

    /// Decrypts a question on a thread where that holds nobody up: it takes some milliseconds a key.
    async fn open(&self, gate: &FormGate, body: &[u8]) -> Result<(Vec<u8>, ExchangeKey), FormEndpointError> {
        let sealed: SealedQuestion =
            serde_json::from_slice(body).map_err(|_| FormEndpointError::Undecipherable)?;
        let clear = |keys: &FormKeys| {
            Some((self.key.decrypt(&keys.private_key).ok()?, self.key.decrypt(&keys.passphrase).ok()?))
        };
        let keys: Vec<_> = gate.keys.iter().filter_map(clear).collect();
        let opened = tokio::task::spawn_blocking(move || {
            let mut keys = keys.iter().filter_map(|(pem, passphrase)| FormKey::open(pem, passphrase).ok());
            keys.find_map(|key| sealed.open(&key).ok())
        });
        let opened = opened.await.map_err(|error| FormEndpointError::Unanswered(error.to_string()))?;
        opened.ok_or(FormEndpointError::Undecipherable)
    }

    /// Asks the tool of the form, for the session of the message that opened it.
    async fn ask(&self, gate: &FormGate, question: &ScreenQuestion) -> Result<FormAnswer, FormEndpointError> {
        let tool = gate.flow_id.as_ref();
        let tool = tool.ok_or_else(|| FormEndpointError::Unanswered("the form has no tool".to_owned()))?;
        let expired = || FormAnswer::Expired { message: EXPIRED.into_language(self.language).into_owned() };
        let Ok(message) = MessageId::parse(&question.flow_token) else { return Ok(expired()) };
        let sessions = self.store.read().await?.messages().sessions_of(&[message]).await?;
        let Some((_, session)) = sessions.into_iter().next() else { return Ok(expired()) };
        let call = ToolCall { router: &gate.router_id, session: &session, tool };
        let called = self.tools.call(&call, |parameters| question.arguments(parameters));
        let answered = tokio::time::timeout(TIMEOUT, called).await;
        let unanswered = |reason: String| {
            tracing::warn!(%session, flow = %tool, reason, "a form is not answered");
            FormEndpointError::Unanswered(reason)
        };
        match answered {
            Ok(Ok(called)) => FormAnswer::of(question, called.returns)
                .ok_or_else(|| unanswered("the tool gives back no `screen` that is a text".to_owned())),
            Ok(Err(ToolCallError::NoSession)) => Ok(expired()),
            Ok(Err(ToolCallError::Storage(error))) => Err(error.into()),
            Ok(Err(error)) => Err(unanswered(error.to_string())),
            Err(_) => Err(unanswered(format!("the tool took more than {} s", TIMEOUT.as_secs()))),
        }
    }
}
