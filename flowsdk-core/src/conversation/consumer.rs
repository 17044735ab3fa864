//! The conversation service as a stream consumer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::cost::Parties;
use super::{ConversationError, ConversationEvent, ConversationTx, Conversations, TurnReport};
use crate::event::{FlowEvent, Resume};
use crate::fault::Chain;
use crate::session::SessionId;
use crate::store::Store;
use crate::stream::broker::Entry;
use crate::stream::consumer::{BatchHandler, SetAside, Verdict, Work};
use crate::stream::lanes::Turn;
use crate::stream::topic::TopicName;

/// The streams whose events of a session share one lane.
pub const CONVERSATION_TOPICS: &[TopicName] = &[TopicName::Incoming, TopicName::Flow];
/// The consumer group that runs turns.
pub const CONVERSATION_GROUP: &str = "conversation";

/// Handles `stream:incoming` and `stream:flow` together, so that a message and a redirect of one
/// session never overlap.
#[derive(Debug)]
pub struct ConversationConsumer<S> {
    conversations: Arc<Conversations<S>>,
    parties: Parties,
}

impl<S> ConversationConsumer<S> {
    /// Creates a consumer over the service.
    pub fn new(conversations: Arc<Conversations<S>>) -> Self {
        Self { conversations, parties: Parties::default() }
    }
}

fn resumption(event: &ConversationEvent) -> Option<&Resume> {
    match event {
        ConversationEvent::Flow(FlowEvent::Resume(resume)) => Some(resume),
        _ => None,
    }
}

fn retry(error: &ConversationError) -> Verdict<TurnReport> {
    Verdict::Retry { transient: error.is_transient(), after: None, reason: Chain(error).to_string() }
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
            other => return Err(format!("{} is not for conversations", other.name())),
        };
        event.map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<ConversationEvent, TurnReport>]) -> Vec<Verdict<TurnReport>> {
        if let [work] = batch
            && let Some(resume) = resumption(work.event())
        {
            let resumed = self.conversations.resume(resume).await;
            return vec![resumed.map_or_else(|error| retry(&error), Verdict::Done)];
        }
        let events: Vec<&ConversationEvent> = batch.iter().map(Work::event).collect();
        // A turn that takes long would hold up the others of its batch.
        let handled = if batch.iter().all(Work::is_aside) {
            self.conversations.handle(&events).await.map(|reports| reports.into_iter().map(Some).collect())
        } else {
            self.conversations.handle_short(&events).await
        };
        let reports: Vec<Option<TurnReport>> = match handled {
            Ok(reports) => reports,
            Err(error) => return events.iter().map(|_| retry(&error)).collect(),
        };
        for (event, report) in events.iter().zip(reports.iter().flatten()) {
            self.parties.learn(event, report);
        }
        reports.into_iter().map(|report| report.map_or(Verdict::Aside, Verdict::Done)).collect()
    }

    /// A tenant whose turns cost much holds up the others for one batch, and a batch of such turns is small.
    fn turn(&self, event: &ConversationEvent) -> Turn {
        Turn { party: self.parties.of(event), ..Turn::default() }
    }

    fn cost(&self, report: &TurnReport) -> Duration {
        report.cost
    }

    /// A resumption is many commits, so it shares none, and no other session waits for its end.
    fn runs_alone(&self, event: &ConversationEvent) -> bool {
        resumption(event).is_some()
    }

    async fn poison(&self, key: &str, event: &ConversationEvent, reason: &str) -> Result<SetAside, String> {
        if resumption(event).is_some() {
            // The session is frozen already; an operator may try again.
            tracing::error!(session = key, reason, "a frozen session cannot be resumed");
            return Ok(SetAside::Recorded);
        }
        self.conversations
            .freeze(event.session_id().clone(), event.to_json(), "poison_entry", reason)
            .await
            .map(|()| SetAside::Recorded)
            .map_err(|error| Chain(&error).to_string())
    }

    async fn unreadable(&self, topic: TopicName, entry: &Entry, reason: &str) -> Result<SetAside, String> {
        let Ok(session) = SessionId::parse(entry.key.clone()) else {
            // There is no session to freeze.
            return Ok(SetAside::DeadLetter);
        };
        let kept = serde_json::json!({ "stream": topic.name(), "id": entry.id, "payload": entry.payload });
        self.conversations
            .freeze(session, kept, "unreadable_entry", reason)
            .await
            .map(|()| SetAside::Recorded)
            .map_err(|error| Chain(&error).to_string())
    }
}
