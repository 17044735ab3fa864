//! A dead letter as clients see it.

use flowsdk_core::id::{DeadLetterId, RouterId};
use flowsdk_core::stream::dead_letter::DeadLetter;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

/// An entry of a stream that failed for good.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeadLetter)]
pub(super) struct DeadLetterView {
    id: DeadLetterId,
    topic: TopicName,
    /// The consumer group that could not handle the entry.
    #[schema(example = "webchat")]
    group: String,
    /// Entries of one key are handled in order. In most streams it is the id of a session.
    key: String,
    /// The entry as it was published: JSON, unless it could not be read.
    payload: String,
    /// The reason of the last failure, in English.
    reason: String,
    /// How often the entry was tried.
    #[schema(minimum = 0)]
    attempts: u32,
    /// The router of the session that the key names, if there was one.
    #[schema(required = true)]
    router_id: Option<RouterId>,
    first_failed_at: IsoTime,
    /// The time of the last failure.
    failed_at: IsoTime,
}

impl From<DeadLetter> for DeadLetterView {
    fn from(letter: DeadLetter) -> Self {
        Self {
            id: letter.id,
            topic: letter.topic,
            group: letter.group,
            key: letter.key,
            payload: letter.payload,
            reason: letter.reason,
            attempts: letter.attempts,
            router_id: letter.router_id,
            first_failed_at: letter.first_failed_at.into(),
            failed_at: letter.failed_at.into(),
        }
    }
}
