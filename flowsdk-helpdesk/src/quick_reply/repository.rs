//! Storage of quick replies, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId};

use super::QuickReply;

/// Quick replies of one transaction.
#[async_trait]
pub trait QuickReplyRepository: Send {
    /// Returns up to `limit` quick replies of a router that are for the tickets of a queue, or for those of none, by name.
    async fn for_queue(
        &mut self,
        router: &RouterId,
        queue: Option<&QueueId>,
        limit: u32,
    ) -> Result<Vec<QuickReply>, StorageError>;
}

/// A transaction with quick replies.
pub trait HasQuickReplies: Send {
    /// Returns the repository of this transaction.
    fn quick_replies(&mut self) -> &mut dyn QuickReplyRepository;
}
