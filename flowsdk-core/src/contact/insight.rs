//! The activity of a contact.

use async_trait::async_trait;

use super::ContactOptIn;
use crate::fault::StorageError;
use crate::id::{ContactId, RouterId};
use crate::time::Timestamp;

/// How many days of messages are told.
pub const INSIGHT_DAYS: u32 = 30;

/// Messages of a day, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayOfMessages {
    /// The first moment of the day.
    pub day: Timestamp,
    /// Messages that the contact wrote.
    pub incoming: i64,
    /// Messages that the contact was sent.
    pub outgoing: i64,
}

/// The activity of a contact with some routers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactInsights {
    /// Sessions that have not ended.
    pub live_sessions: i64,
    /// Chats, open and closed.
    pub chats: i64,
    /// Those that are open.
    pub open_chats: i64,
    /// When the contact last wrote.
    pub last_seen_at: Option<Timestamp>,
    /// Days with messages among the last [`INSIGHT_DAYS`], newest first.
    pub messages_by_day: Vec<DayOfMessages>,
    /// The latest opt-in of the contact, one a router.
    pub opt_ins: Vec<ContactOptIn>,
}

/// Doings of contacts, in one transaction.
#[async_trait]
pub trait ContactInsightRepository: Send {
    /// Returns the activity of a contact since `since`, with the routers in `only`, if it is given.
    async fn insights(
        &mut self,
        contact: &ContactId,
        only: Option<&[RouterId]>,
        since: Timestamp,
    ) -> Result<ContactInsights, StorageError>;
}

/// A transaction with the statistics of a contact.
pub trait HasContactInsights: Send {
    /// Returns the repository of this transaction.
    fn contact_insights(&mut self) -> &mut dyn ContactInsightRepository;
}
