//! The conversation service as a stream consumer.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ConversationEvent, Conversations, TurnReport};
use crate::fault::Chain;
use crate::session::SessionId;
use crate::store::{ConversationTx, Store};
use crate::stream::broker::Entry;
use crate::stream::consumer::{BatchHandler, Verdict, Work};
use crate::stream::topic::TopicName;

/// The streams whose events of a session share one lane.
pub const CONVERSATION_TOPICS: &[TopicName] = &[TopicName::Incoming, TopicName::Flow];
/// The consumer group.
pub const CONVERSATION_GROUP: &str = "conversation";

/// Handles `stream:incoming` and `stream:flow` together, so that a message and a redirect of one
/// session never overlap.
#[derive(Debug)]
pub struct ConversationConsumer<S> {
    conversations: Arc<Conversations<S>>,
}

impl<S> ConversationConsumer<S> {
    /// A consumer over the service.
    pub fn new(conversations: Arc<Conversations<S>>) -> Self {
        Self { conversations }
    }
}

#[async_trait]
impl<S: Store> BatchHandler for ConversationConsumer<S>
where
    S::Tx: ConversationTx,
{
    type Event = ConversationEvent;
    type Output = TurnReport;

    fn parse(&self, topic: TopicName, entry: &Entry) -> Result<ConversationEvent, String> {
        let event = match topic {
            TopicName::Incoming => serde_json::from_str(&entry.payload).map(ConversationEvent::Incoming),
            TopicName::Flow => serde_json::from_str(&entry.payload).map(ConversationEvent::Flow),
            other => return Err(format!("{} is not for conversations", other.as_str())),
        };
        event.map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Arc<Work<ConversationEvent, TurnReport>>]) -> Vec<Verdict<TurnReport>> {
        let events: Vec<&ConversationEvent> = batch.iter().map(|work| work.event()).collect();
        match self.conversations.handle(&events).await {
            Ok(reports) => reports.into_iter().map(Verdict::Done).collect(),
            Err(error) => {
                let (transient, reason) = (error.is_transient(), Chain(&error).to_string());
                batch.iter().map(|_| Verdict::Retry { transient, reason: reason.clone() }).collect()
            }
        }
    }

    async fn poison(&self, _key: &str, event: &ConversationEvent, reason: &str) -> Result<(), String> {
        self.conversations
            .freeze(event.session_id().clone(), event.to_json(), "poison_entry", reason)
            .await
            .map_err(|error| Chain(&error).to_string())
    }

    async fn unreadable(&self, topic: TopicName, entry: &Entry, reason: &str) -> Result<(), String> {
        let kept = serde_json::json!({ "stream": topic.as_str(), "id": entry.id, "payload": entry.payload });
        let Ok(session) = SessionId::parse(entry.key.clone()) else {
            tracing::error!(entry = %kept, "an entry of no session was set aside in this log line");
            return Ok(());
        };
        self.conversations
            .freeze(session, kept, "unreadable_entry", reason)
            .await
            .map_err(|error| Chain(&error).to_string())
    }
}
