//! The queue of messages that are to be sent, and the attempts to send them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use flowsdk_core::cell::Named;
use flowsdk_core::channel::SendingAccount;
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::event::OutgoingEvent;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, MessageId, RouterId};
use flowsdk_core::message::{ContentMessage, MessageStatus, Source, StatusError};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::channel_number::HealthStatus;
use crate::template::SentTemplate;

/// A message in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Outbound {
    /// The message.
    pub event: OutgoingEvent,
    /// Whom it is for. The messages of a number for one contact are sent in their order, whichever form of the contact's
    /// number they are addressed to (rulings C5, C6).
    pub contact_id: ContactId,
    /// How many calls were made for it.
    pub attempts: u32,
    /// How many of them the provider refused because of a difficulty of its own.
    pub refusals: u32,
    /// When it entered the queue.
    pub queued_at: Timestamp,
    /// When the call began that is under way, or whose answer was lost.
    pub began_at: Option<Timestamp>,
    /// The owners of the session that goes by the id of its session now; absent where there is none.
    pub owners: Option<Owners>,
}

/// The owners that a session has had, by its epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    /// The epoch in which it began. A session that began again after its end has a later one.
    pub first: i64,
    /// The epoch of its owner now.
    pub now: i64,
}

impl Owners {
    /// Returns whether a message of this epoch was said by a former owner of the session (rulings S14). A message of an
    /// earlier session, which has ended, was said by nobody who lost it.
    pub fn have_superseded(self, epoch: i64) -> bool {
        (self.first..self.now).contains(&epoch)
    }
}

/// The order of the messages of a number: those of a smaller one go first (rulings C7). Those for one contact stay in their
/// order whatever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "i64")]
pub enum Priority {
    /// Somebody waits for it.
    Live,
    /// The business begins with it.
    Dispatched,
}

impl Priority {
    /// Returns the priority of a message.
    pub fn of(event: &OutgoingEvent) -> Self {
        if event.source == Source::Dispatch { Self::Dispatched } else { Self::Live }
    }
}

impl From<Priority> for i64 {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::Live => 0,
            Priority::Dispatched => 1,
        }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The provider took the message.
    Accepted,
    /// It refused the message for now, or was not reached: there is another attempt.
    Retried,
    /// It refused the message for good.
    Failed,
    /// Its answer was lost.
    Unanswered,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The message.
    pub message: MessageId,
    /// Its number, from 1.
    pub number: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// What the provider said of a failure.
    pub error: Option<StatusError>,
}

/// What becomes of a message in the queue. It counts only while no further attempt has begun: a write may be repeated
/// whose answer was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The message.
    pub message: MessageId,
    /// How many attempts were made so far.
    pub attempts: u32,
    /// What becomes of it.
    pub outcome: SettlementOutcome,
}

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettlementOutcome {
    /// It leaves the queue.
    Done,
    /// It is tried again at this time.
    Again(Timestamp),
    /// The same, and the refusal [counts](Outbound::refusals).
    Refused(Timestamp),
}

/// A reason for which nothing is sent from a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// What the provider said.
    pub error: StatusError,
    /// Since when.
    pub since: Timestamp,
}

/// A number that sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberState {
    /// The provider's id of it.
    pub phone_number_id: String,
    /// Its router.
    pub router_id: RouterId,
    /// Its access token.
    pub access_token: Option<Encrypted>,
    /// Whether anything may be sent from it.
    pub active: bool,
    /// Why nothing is sent from it.
    pub pause: Option<Pause>,
}

impl Outbound {
    /// Returns the template that the message is.
    pub(super) fn template(&self) -> Option<SentTemplate> {
        let ContentMessage::Template { template } = &self.event.content else { return None };
        Some(SentTemplate {
            phone_number_id: self.event.session_id.transport().to_owned(),
            name: template.name.clone(),
            language: template.language.code.clone(),
        })
    }

    /// Returns whether the session has another owner than the one that said the message (rulings S14). What an operator or
    /// another system dispatches belongs to no turn.
    pub(super) fn is_superseded(&self) -> bool {
        self.event.source != Source::Dispatch
            && self.owners.is_some_and(|owners| owners.have_superseded(self.event.epoch))
    }
}

impl NumberState {
    /// Returns what keeps the number from sending, if anything does.
    pub fn health(&self) -> HealthStatus {
        match (self.active, &self.access_token, &self.pause) {
            (false, _, _) => HealthStatus::Inactive,
            (true, None, _) => HealthStatus::NoAccessToken,
            (true, Some(_), Some(_)) => HealthStatus::Paused,
            (true, Some(_), None) => HealthStatus::Ok,
        }
    }

    /// Returns the account that sends; `None` without a token that can be read.
    pub(crate) fn account(&self, key: &MasterKey) -> Option<SendingAccount> {
        let token = key.decrypt(self.access_token.as_ref()?);
        let token = token.inspect_err(|_| {
            tracing::error!(
                number = self.phone_number_id,
                "the access token of a number cannot be decrypted"
            );
        });
        Some(SendingAccount { id: self.phone_number_id.clone(), access_token: token.ok()? })
    }
}

/// The queue of one transaction.
#[async_trait]
pub trait OutboundRepository: Send {
    /// Appends messages, in order. One that is in the queue, for which a call was made, or that is not stored as pending,
    /// is left out.
    async fn enqueue(&mut self, events: &[&OutgoingEvent], now: Timestamp) -> Result<(), StorageError>;

    /// Returns messages that may be sent now: of each contact the first one, if no call for it is under way; at most
    /// `each` of a number, and `limit` in all, by their [`Priority`]. Numbers that are paused, are not active or have no token
    /// have none.
    async fn due(&mut self, now: Timestamp, each: u32, limit: u32) -> Result<Vec<Outbound>, StorageError>;

    /// Notes that a call is made now for each of these messages. Returns those for which nobody else has begun one, with the
    /// number of the attempt.
    async fn begin(
        &mut self,
        messages: &[MessageId],
        now: Timestamp,
    ) -> Result<Vec<(MessageId, u32)>, StorageError>;

    /// Notes how attempts ended.
    async fn end(&mut self, attempts: &[Attempt], now: Timestamp) -> Result<(), StorageError>;

    /// Takes messages out of the queue, or puts them off.
    async fn settle(&mut self, settlements: &[Settlement]) -> Result<(), StorageError>;

    /// Returns up to `limit` messages for which a call is under way, or was lost, with the status that they have by now: the
    /// oldest calls first, of those that began before `before`.
    async fn unanswered(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Outbound, Option<MessageStatus>)>, StorageError>;

    /// Returns up to `limit` messages that entered the queue before `before`, and for which no call is under way.
    async fn expired(&mut self, before: Timestamp, limit: u32) -> Result<Vec<Outbound>, StorageError>;

    /// Returns these numbers.
    async fn numbers(&mut self, phone_number_ids: &[String]) -> Result<Vec<NumberState>, StorageError>;

    /// Returns the numbers that are paused, those of the longest pause first.
    async fn paused(&mut self) -> Result<Vec<NumberState>, StorageError>;

    /// Pauses numbers, except those that are paused already or were deleted.
    async fn pause(&mut self, pauses: &BTreeMap<String, Pause>) -> Result<(), StorageError>;

    /// Ends the pause of numbers.
    async fn resume(&mut self, phone_number_ids: &[String]) -> Result<(), StorageError>;

    /// Returns how many messages wait for a number, and since when the first of them does.
    async fn waiting(&mut self, phone_number_id: &str) -> Result<(i64, Option<Timestamp>), StorageError>;

    /// Deletes attempts of before `before`.
    async fn forget_attempts(&mut self, before: Timestamp) -> Result<u64, StorageError>;
}

/// A transaction with the queue.
pub trait HasOutbound: Send {
    /// Returns the repository of this transaction.
    fn outbound(&mut self) -> &mut dyn OutboundRepository;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_former_owners_of_the_same_session_are_superseded() {
        let owners = Owners { first: 1_000, now: 1_002 };
        for (epoch, superseded) in [(1_000, true), (1_001, true), (1_002, false), (999, false), (0, false)] {
            assert_eq!(owners.have_superseded(epoch), superseded, "{epoch}");
        }
        assert!(!Owners { first: 7, now: 7 }.have_superseded(7));
    }
}
