//! Dead letters as they are recorded and read.

use serde_json::{Value, json};

use crate::change::{Entity, EntityKind, Recorded};
use crate::id::{DeadLetterId, RouterId};
use crate::stream::topic::TopicName;
use crate::time::Timestamp;

/// Longest stored reason, in characters; the rest is cut off.
const LONGEST_REASON: usize = 4_096;

/// An entry that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct FailedEntry {
    pub topic: TopicName,
    /// The consumer group that could not handle it.
    pub group: String,
    /// The partition and the broker's id of the entry; `None` for an event that was submitted. It is recorded once.
    pub source: Option<String>,
    /// The key that keeps entries in order.
    pub key: String,
    /// The event as it was published.
    pub payload: String,
    /// The reason of the last failure.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The time of the first failure.
    pub first_failed_at: Timestamp,
    /// The time of the last failure.
    pub failed_at: Timestamp,
}

impl FailedEntry {
    /// Returns the reason as it is stored.
    pub fn short_reason(&self) -> &str {
        let end = self.reason.char_indices().nth(LONGEST_REASON).map_or(self.reason.len(), |(at, _)| at);
        &self.reason[..end]
    }
}

/// An entry that failed for good, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct DeadLetter {
    /// The id of the dead letter.
    pub id: DeadLetterId,
    pub topic: TopicName,
    /// The consumer group that could not handle it.
    pub group: String,
    /// The key that keeps entries in order; a session id in most streams.
    pub key: String,
    /// The event as it was published.
    pub payload: String,
    /// The reason of the last failure.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The router of the session that the key names, if there was one.
    pub router_id: Option<RouterId>,
    /// The time of the first failure.
    pub first_failed_at: Timestamp,
    /// The time of the last failure.
    pub failed_at: Timestamp,
}

/// Without its payload, which may hold what people wrote.
impl Recorded for DeadLetter {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::DeadLetter, id: self.id.as_str(), router_id: self.router_id.as_ref() }
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "topic": self.topic.name(), "group": self.group, "key": self.key,
            "attempts": self.attempts, "failedAt": self.failed_at.to_iso(),
        })
    }
}

/// Which dead letters are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeadLetterFilter {
    /// Only those of this stream.
    pub topic: Option<TopicName>,
    /// Only those of this consumer group.
    pub group: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        for (reason, expected) in [("", 0), ("é", 2), (&"é".repeat(5_000), 2 * LONGEST_REASON)] {
            let entry = FailedEntry {
                topic: TopicName::Flow,
                group: String::new(),
                source: None,
                key: String::new(),
                payload: String::new(),
                reason: reason.to_owned(),
                attempts: 1,
                first_failed_at: Timestamp::default(),
                failed_at: Timestamp::default(),
            };
            assert_eq!(entry.short_reason().len(), expected);
        }
    }
}
