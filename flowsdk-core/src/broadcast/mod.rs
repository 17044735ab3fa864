//! Broadcast intents: where the reply of a contact goes to whom somebody wrote first (spec A 4.8).

use std::time::Duration;

use async_trait::async_trait;

use crate::fault::StorageError;
use crate::id::{BlockId, FlowId, MessageId, QueueId, RouterId, UserId};
use crate::time::Timestamp;

/// How long an intent waits for a reply.
pub const INTENT_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Where a reply goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroadcastIntent {
    /// The message that may be answered.
    pub message_id: MessageId,
    /// `dispatch:<internalId>`, or the campaign.
    pub campaign_id: String,
    /// The number that wrote.
    pub phone_number_id: String,
    /// The contact, as the message was addressed.
    pub recipient: String,
    /// The router of the number.
    pub router_id: RouterId,
    /// The queue of the helpdesk that gets the conversation. It goes before the flow.
    pub queue_id: Option<QueueId>,
    /// The agent who gets the ticket.
    pub user_id: Option<UserId>,
    /// The flow that begins.
    pub flow_id: Option<FlowId>,
    /// The block of it; the start block without one.
    pub block_id: Option<BlockId>,
    /// When it was made. Of several the oldest counts, unless the reply names the message that it answers.
    pub created_at: Timestamp,
}

/// An intent, with what the provider calls its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenIntent {
    /// The intent.
    pub intent: BroadcastIntent,
    /// The provider's id of the message, once it is known.
    pub provider_id: Option<String>,
}

/// Intents of one transaction.
#[async_trait]
pub trait IntentRepository: Send {
    /// Stores intents.
    async fn insert_many(&mut self, intents: &[BroadcastIntent]) -> Result<(), StorageError>;

    /// Returns the intents of these pairs of number and recipient that were made after `after`, the oldest first. Those of
    /// messages that failed are left out.
    async fn find(
        &mut self,
        pairs: &[(&str, &str)],
        after: Timestamp,
    ) -> Result<Vec<OpenIntent>, StorageError>;

    /// Deletes the intents of these messages.
    async fn delete(&mut self, messages: &[MessageId]) -> Result<(), StorageError>;

    /// Deletes intents that were made before `before`; returns their number.
    async fn forget(&mut self, before: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with intents.
pub trait HasIntents: Send {
    /// Returns the repository of this transaction.
    fn intents(&mut self) -> &mut dyn IntentRepository;
}

/// Chooses the intent of a reply: that of the message that it answers, otherwise the oldest.
pub fn choose<'a>(intents: &[&'a OpenIntent], answered: Option<&str>) -> Option<&'a BroadcastIntent> {
    let named = intents.iter().find(|one| answered.is_some() && one.provider_id.as_deref() == answered);
    named.or(intents.first()).map(|one| &one.intent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_chooses_the_message_that_it_answers() {
        let intent = |message: &str, provider: Option<&str>| OpenIntent {
            intent: BroadcastIntent {
                message_id: message.parse().expect("an id"),
                campaign_id: format!("dispatch:{message}"),
                phone_number_id: "111".to_owned(),
                recipient: "5511987654321".to_owned(),
                router_id: "r1".parse().expect("an id"),
                queue_id: None,
                user_id: None,
                flow_id: Some("f1".parse().expect("an id")),
                block_id: None,
                created_at: Timestamp::from_millis(1),
            },
            provider_id: provider.map(str::to_owned),
        };
        let intents = [intent("m1", Some("wamid.1")), intent("m2", Some("wamid.2")), intent("m3", None)];
        for (answered, expected) in [(None, "m1"), (Some("wamid.2"), "m2"), (Some("wamid.9"), "m1")] {
            let chosen = choose(&intents.iter().collect::<Vec<_>>(), answered).expect("an intent");
            assert_eq!(chosen.message_id.as_str(), expected, "{answered:?}");
        }
        assert_eq!(choose(&[], Some("wamid.1")), None);
    }
}
