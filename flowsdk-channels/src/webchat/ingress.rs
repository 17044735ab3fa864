//! Stores a visitor's message durably before it is acknowledged.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::conversation::{
    ConversationConsumer, ConversationEvent, ConversationTx, SharedBackpressure, TurnReport, parties_of,
};
use flowsdk_core::event::{IncomingEvent, OutgoingEvent};
use flowsdk_core::id::{MessageId, RouterId};
use flowsdk_core::kv::{Key, KeyValue, KeyValueError, KeyValueExt as _};
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Store;
use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry};
use flowsdk_core::stream::consumer::{SubmitError, Submitter};
use flowsdk_core::stream::topic::Incoming;

/// Why a message was not taken; the client sends it again with the same `clientMessageId`.
#[derive(Debug, thiserror::Error)]
pub enum IngressError {
    /// The conversation consumer cannot take it.
    #[error("not taken: {0}")]
    Consumer(#[from] SubmitError),
    /// The broker cannot take it.
    #[error("not appended")]
    Broker(#[from] BrokerError),
    /// The key-value store cannot be reached.
    #[error("not appended")]
    KeyValue(#[from] KeyValueError),
    /// Too many messages of its tenant wait for their turns.
    #[error("too many messages of the router wait")]
    Backpressure,
    /// It led nowhere: the channel or the contact is gone.
    #[error("dropped")]
    Dropped,
}

/// A message that is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// Its id; of the first one, when it came twice.
    pub message_id: MessageId,
    /// Its answers, where they are known already and none follows later.
    pub answers: Option<Vec<OutgoingEvent>>,
    /// Whether an error has stopped its session, as far as that is known already.
    pub frozen: bool,
}

/// Takes incoming events.
#[async_trait]
pub trait Ingress: Send + Sync + std::fmt::Debug {
    /// Takes the event of a visitor of `router` who has entered without a message. It may be lost with the process: the
    /// visitor enters again, or writes.
    async fn open(&self, event: IncomingEvent, router: &RouterId) -> Result<(), IngressError>;

    /// Takes an event of one message, for a flow of `router`. Answers when the message is durable.
    async fn accept(&self, event: IncomingEvent, router: &RouterId) -> Result<Accepted, IngressError>;
}

/// The conversation consumer runs in this process: its turn is the durable write, in one commit.
#[derive(Debug)]
pub struct DirectIngress<S: Store>
where
    S::Tx: ConversationTx,
{
    submitter: Submitter<ConversationConsumer<S>>,
}

impl<S: Store> DirectIngress<S>
where
    S::Tx: ConversationTx,
{
    /// An ingress into `submitter`'s consumer.
    pub fn new(submitter: Submitter<ConversationConsumer<S>>) -> Self {
        Self { submitter }
    }

    async fn submit(&self, event: IncomingEvent, router: &RouterId) -> Result<TurnReport, IngressError> {
        if self.submitter.backpressure().is_on(&parties_of(&event.session_id, router)) {
            return Err(IngressError::Backpressure);
        }
        let key = event.session_id.to_string();
        Ok(self.submitter.submit(key, ConversationEvent::Incoming(event)).await?)
    }
}

#[async_trait]
impl<S: Store> Ingress for DirectIngress<S>
where
    S::Tx: ConversationTx,
{
    async fn open(&self, event: IncomingEvent, router: &RouterId) -> Result<(), IngressError> {
        self.submit(event, router).await.map(drop)
    }

    async fn accept(&self, event: IncomingEvent, router: &RouterId) -> Result<Accepted, IngressError> {
        let report = self.submit(event, router).await?;
        let stored = report.stored.into_iter().next().ok_or(IngressError::Dropped)?;
        let answers = Some(report.outgoing).filter(|_| !report.waits);
        Ok(Accepted { message_id: stored.id, answers, frozen: report.frozen })
    }
}

/// The conversation consumer runs elsewhere: `stream:incoming` is the durable write.
#[derive(Debug)]
pub struct StreamIngress {
    broker: Arc<dyn Broker>,
    kv: Arc<dyn KeyValue>,
    backpressure: Arc<SharedBackpressure>,
}

impl StreamIngress {
    /// An ingress into `broker`, with what the consumers of its stream tell of themselves.
    pub fn new(
        broker: Arc<dyn Broker>,
        kv: Arc<dyn KeyValue>,
        backpressure: Arc<SharedBackpressure>,
    ) -> Self {
        Self { broker, kv, backpressure }
    }

    /// # Errors
    /// The events of the session are to be refused, or it is not known.
    async fn admit(&self, session: &SessionId, router: &RouterId) -> Result<(), IngressError> {
        let refused = self.backpressure.is_on(&parties_of(session, router)).await?;
        if refused { Err(IngressError::Backpressure) } else { Ok(()) }
    }
}

#[async_trait]
impl Ingress for StreamIngress {
    async fn open(&self, event: IncomingEvent, router: &RouterId) -> Result<(), IngressError> {
        self.admit(&event.session_id, router).await?;
        Ok(self.broker.publish(&[NewEntry::of::<Incoming>(&event)]).await?)
    }

    async fn accept(&self, mut event: IncomingEvent, router: &RouterId) -> Result<Accepted, IngressError> {
        self.admit(&event.session_id, router).await?;
        let message = event.messages.first_mut().ok_or(IngressError::Dropped)?;
        let mut id = message.internal_id.clone().ok_or(IngressError::Dropped)?;
        if let Some(client) = &message.client_message_id {
            // A repetition gets the first id, and is published again all the same: the first try may have
            // died before its append. The unique key of the row drops the duplicate.
            id = self.kv.claim(&client_message(&event.session_id, client), &id).await?;
            message.internal_id = Some(id.clone());
        }
        self.broker.publish(&[NewEntry::of::<Incoming>(&event)]).await?;
        Ok(Accepted { message_id: id, answers: None, frozen: false })
    }
}

/// The key that holds the message id given to a client's own message id, for 24 hours.
fn client_message(session: &SessionId, client_message_id: &str) -> Key<MessageId> {
    let day = Duration::from_secs(24 * 60 * 60);
    Key::new(format!("webchat:client-message:{session}:{client_message_id}"), Some(day))
}
