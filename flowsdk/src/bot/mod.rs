//! A bot: one flow over a store, with a transport of the embedder's own.

mod agents;
mod builder;
mod installation;
mod tasks;
mod transport;

use std::sync::Arc;

use flowsdk_agent::set::InvalidAgentSet;
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{ConversationConsumer, ConversationEvent};
use flowsdk_core::event::IncomingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::VisitorId;
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::consumer::{SubmitError, Submitter};
use flowsdk_store::sql::{ClaimError, SqlStore};

pub use builder::BotBuilder;
pub use transport::{Answer, DeliveryError, Transport};

use installation::{CHANNEL, bot_id};
use tasks::Tasks;

/// Why the bot did not take a message, or did not start. After an error of [`Bot::receive`] the caller may hand the
/// message in again under the same id: it is answered once.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BotError {
    /// The name of the contact has a character other than letters, digits, `.`, `_`, `~`, `+` and `@`, or is too long.
    #[error("a contact name cannot be used as an id: {0}")]
    Contact(String),
    /// Another process works on this database.
    #[error("another process works on this database")]
    InUse,
    /// The database cannot be taken: its folder does not exist, or its server cannot be reached.
    #[error("the database cannot be opened: {0}")]
    Database(ClaimError),
    /// The bot is stopping, or cannot reach its storage.
    #[error("the bot cannot take the message now")]
    Unavailable,
    /// The message failed for good; it is kept with the session that it froze.
    #[error("the message failed and was set aside")]
    SetAside,
    /// Storage failed.
    #[error("storage failed")]
    Storage(#[from] StorageError),
    /// The AI agents cannot be used.
    #[error("the AI agents cannot be used: {0}")]
    Agents(#[from] InvalidAgentSet),
    /// The caller for HTTP requests cannot be built.
    #[error("HTTP cannot be set up: {0}")]
    Http(String),
}

impl From<ClaimError> for BotError {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Taken => Self::InUse,
            error => Self::Database(error),
        }
    }
}

/// A flow that answers contacts, over a store.
///
/// A message is stored, answered and committed in one transaction. The answers are handed to the [`Transport`] after
/// the commit, in order for each contact and at least once: those that a crash held up are delivered at the next start.
#[derive(Debug)]
pub struct Bot {
    store: Arc<SqlStore>,
    cx: OpContext,
    turns: Submitter<ConversationConsumer<SqlStore>>,
    tasks: Tasks,
}

impl Bot {
    /// Begins to build a bot that answers with `flow`.
    pub fn builder(flow: crate::Flow) -> BotBuilder {
        BotBuilder::new(flow)
    }

    /// Takes a text of the contact `from`, and returns when its turn is committed.
    ///
    /// # Errors
    /// [`BotError`].
    pub async fn receive(&self, from: &str, text: impl Into<String>) -> Result<(), BotError> {
        let id = self.cx.ids().next_id();
        self.receive_message(from, IncomingMessage::text(id, text)).await
    }

    /// Takes a message of any kind of the contact `from`, and returns when its turn is committed. The message has the
    /// transport's own id: one with the same id is stored and answered once.
    ///
    /// # Errors
    /// [`BotError`].
    pub async fn receive_message(&self, from: &str, message: IncomingMessage) -> Result<(), BotError> {
        let refused = || BotError::Contact(from.to_owned());
        let visitor = VisitorId::parse(from).map_err(|_| refused())?;
        let session = SessionId::webchat(&bot_id(CHANNEL), &visitor, None).map_err(|_| refused())?;
        self.know(&session, from).await?;
        let event = ConversationEvent::Incoming(IncomingEvent {
            channel_type: Channel::Webchat,
            phone_number_id: session.phone_number_id().to_owned(),
            from: Some(from.to_owned()),
            aliases: Vec::new(),
            contact_name: from.to_owned(),
            messages: vec![message],
            timestamp: self.cx.now(),
            context: None,
            flow_id: None,
            opened_after: None,
            session_id: session.clone(),
        });
        match self.turns.submit(session.as_str(), event).await {
            Ok(_report) => Ok(()),
            Err(SubmitError::SetAside) => Err(BotError::SetAside),
            Err(_) => Err(BotError::Unavailable),
        }
    }

    /// Waits up to a second for the answers that are not delivered yet, finishes the turns that have begun, and closes the
    /// store. For what AI agents answer it waits some 15 seconds longer. Answers that are still not delivered are delivered at the next start.
    pub async fn stop(self) {
        drop(self.turns);
        self.tasks.stop().await;
        self.store.close().await;
    }

    /// Creates the contact of a session, unless it is known.
    async fn know(&self, session: &SessionId, name: &str) -> Result<(), StorageError> {
        let identity = session.contact_identity();
        let known = self
            .store
            .read()
            .await?
            .contacts()
            .find_by_phone_numbers(std::slice::from_ref(&identity))
            .await?;
        if !known.is_empty() {
            return Ok(());
        }
        let mut tx = self.store.begin().await?;
        tx.contacts()
            .insert_or_get(&Contact::create(&self.cx, identity, name.to_owned(), Channel::Webchat))
            .await?;
        tx.commit().await
    }
}
