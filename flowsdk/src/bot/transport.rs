//! The way of answers to the contact.

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::conversation::MessagePersister;
use flowsdk_core::event::{DeliveryStatus, Notice, OutgoingEvent, StatusEvent};
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::id::MessageId;
use flowsdk_core::message::ContentMessage;
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Clock;
use flowsdk_store::sql::SqlStore;

/// A message of the bot to a contact.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Answer {
    /// The id of the message. The same id may come twice after a crash.
    pub id: MessageId,
    /// The contact, as given to [`Bot::receive`](super::Bot::receive).
    pub to: String,
    pub content: ContentMessage,
}

impl Answer {
    /// The main text; empty for a file without a caption.
    pub fn text(&self) -> &str {
        self.content.body().unwrap_or_default()
    }
}

/// The reason why a transport did not deliver an answer. Any error becomes [`Later`](Self::Later) by `?`.
#[derive(Debug)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The transport is away. The answer is delivered again, with pauses that grow to 6.4 seconds.
    Later(BoxError),
    /// The answer can never be delivered, for example to a contact that is gone. Its message gets the status `failed`.
    Refused(BoxError),
}

impl<E: Into<BoxError>> From<E> for DeliveryError {
    fn from(error: E) -> Self {
        Self::Later(error.into())
    }
}

/// Delivers answers. A function from an [`Answer`] to a future is a transport.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Delivers one answer. The next one of the same contact comes after this one is delivered.
    ///
    /// # Errors
    /// [`DeliveryError::Later`] delivers the answer again, and the later answers of its contact wait for it. The answers
    /// that wait are bounded for all contacts together, so a contact that is gone is to be
    /// [`Refused`](DeliveryError::Refused). An answer whose delivery panics five times becomes a dead letter.
    async fn deliver(&self, answer: Answer) -> Result<(), DeliveryError>;
}

#[async_trait]
impl<F, Fut> Transport for F
where
    F: Fn(Answer) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), DeliveryError>> + Send,
{
    async fn deliver(&self, answer: Answer) -> Result<(), DeliveryError> {
        self(answer).await
    }
}

/// Hands the answers of `stream:outgoing-chat` to the transport, and marks each as sent or failed.
pub(super) struct Deliveries {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) statuses: MessagePersister<SqlStore>,
    pub(super) clock: Arc<dyn Clock>,
}

/// What stands in the stream.
#[derive(Debug)]
pub(super) enum Told {
    Answer(Box<OutgoingEvent>),
    /// Something that the sockets of a web chat show, such as that somebody types.
    Notice,
}

#[async_trait]
impl BatchHandler for Deliveries {
    type Event = Told;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<Told, String> {
        serde_json::from_str(&entry.payload).map(|event| Told::Answer(Box::new(event))).or_else(|error| {
            serde_json::from_str::<Notice>(&entry.payload)
                .map(|_| Told::Notice)
                .map_err(|_| error.to_string())
        })
    }

    async fn handle(&self, batch: &[Work<Told, ()>]) -> Vec<Verdict<()>> {
        let mut verdicts = Vec::with_capacity(batch.len());
        for work in batch {
            verdicts.push(match work.event() {
                Told::Answer(event) => self.deliver(event).await,
                Told::Notice => Verdict::Done(()),
            });
        }
        verdicts
    }

    fn one_by_one(&self) -> bool {
        true
    }
}

impl Deliveries {
    async fn deliver(&self, event: &OutgoingEvent) -> Verdict<()> {
        let answer = Answer {
            id: event.internal_id.clone(),
            to: event.session_id.party().to_owned(),
            content: event.content.clone(),
        };
        let status = match self.transport.deliver(answer).await {
            Ok(()) => DeliveryStatus::Sent,
            Err(DeliveryError::Refused(error)) => {
                tracing::warn!(message = %event.internal_id, error = %Chain(&*error), "an answer is given up");
                DeliveryStatus::SendFailed
            }
            Err(DeliveryError::Later(error)) => return Verdict::transient(Chain(&*error).to_string()),
        };
        let told = StatusEvent {
            phone_number_id: None,
            status,
            internal_id: Some(event.internal_id.clone()),
            channel_message_id: None,
            session_id: Some(event.session_id.clone()),
            error: None,
            timestamp: self.clock.now(),
        };
        match self.statuses.apply(&[&told]).await {
            Ok(()) => Verdict::Done(()),
            Err(error) => Verdict::transient(Chain(&error).to_string()),
        }
    }
}
