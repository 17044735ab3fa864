//! One message, handed to a provider.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use secrecy::SecretString;

use crate::event::OutgoingEvent;
use crate::fault::BoxError;
use crate::message::StatusError;

/// The account that sends: a number, with the token that the provider expects.
#[derive(Debug, Clone)]
pub struct SendingAccount {
    /// The provider's id of the number.
    pub id: String,
    /// The access token.
    pub access_token: SecretString,
}

/// The provider has taken a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The provider's id of the message.
    pub provider_id: String,
    /// The recipient as the provider names it, where that is not as it was asked for (rulings C5).
    pub recipient: Option<String>,
}

/// What a refusal means for what is sent next (rulings C7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalClass {
    /// The provider has a difficulty of its own: the message is tried again soon, a few times.
    Retry,
    /// The account has sent too much: nothing is sent from it for a while, then the message is tried again.
    Throttled,
    /// The recipient was sent too much: what is for them waits, then the message is tried again.
    PairThrottled,
    /// Nothing can be sent from the account until somebody mends it, such as its token.
    Account,
    /// This message is refused for good.
    Permanent,
}

/// The provider has refused a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code and words of the provider.
    pub error: StatusError,
    /// What it means.
    pub class: RefusalClass,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
}

/// The reason why the provider has not taken a message, as far as is known.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The channel cannot carry the content. The provider was not asked.
    #[error("the channel cannot carry it: {0}")]
    Unsendable(String),
    /// It refused the message.
    #[error("refused with code {}", .0.error.code)]
    Refused(Refusal),
    /// The request did not reach the provider, so it may be made again.
    #[error("the provider was not reached")]
    Unreached(#[source] BoxError),
    /// The request may have reached the provider, and its answer was lost. It is never made again by itself (rulings S2).
    #[error("the answer of the provider was lost")]
    Unanswered(#[source] BoxError),
}

/// Hands messages to the provider of a channel.
#[async_trait]
pub trait ChannelSender: Send + Sync + Debug {
    /// Hands a message over, once. The provider is given [`OutgoingEvent::internal_id`], which its statuses bring back.
    ///
    /// # Errors
    /// [`SendError`].
    async fn send(&self, account: &SendingAccount, message: &OutgoingEvent) -> Result<Accepted, SendError>;

    /// Shows the contact that a message of theirs, and those before it, was read. `is_typing` shows, too, that somebody
    /// types.
    ///
    /// # Errors
    /// [`SendError`].
    async fn mark_read(
        &self,
        account: &SendingAccount,
        message_id: &str,
        is_typing: bool,
    ) -> Result<(), SendError>;

    /// Checks that the provider lets the account in, without sending anything.
    ///
    /// # Errors
    /// [`SendError`].
    async fn probe(&self, account: &SendingAccount) -> Result<(), SendError>;
}
