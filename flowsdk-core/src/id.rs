//! Identifiers.
//!
//! Row ids have the shape of a version 1 CUID: `c`, then 24 characters of lower-case base 36, with the time in
//! front. They sort by creation, so rows and index pages stay together, and the tail comes from a secure random
//! source. A value that must not be guessed (session keys, secrets) is never an id but a [`IdSource::secret`].

use std::fmt;
use std::sync::{Arc, Mutex};

pub use flowsdk_macros::Id;
use rand::RngExt as _;

use crate::time::Timestamp;

/// A text that is not an identifier. The public answer to such a path id is "not found".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier")]
pub struct InvalidId;

/// Longest identifier that is accepted, in bytes.
pub const MAX_LEN: usize = 128;
/// The characters of an identifier.
pub const PATTERN: &str = "^[A-Za-z0-9_.@|:+-]+$";

/// Returns whether `text` may stand as an identifier: 1 to 128 characters of `A-Z a-z 0-9 - _ . @ | : +` (subjects
/// of embed tokens are often e-mails or `issuer|id`).
pub fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_LEN
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@' | b'|' | b':' | b'+'))
}

/// Identifier of a router, the root aggregate (spec A 2.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct RouterId(Arc<str>);

/// Identifier of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct FlowId(Arc<str>);

/// Identifier of one immutable version of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct FlowVersionId(Arc<str>);

/// Identifier of a static variable of a router or flow (spec A 2.3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct VariableId(Arc<str>);

/// Identifier of a block, unique within its flow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct BlockId(Arc<str>);

/// Identifier of a contact (spec A 2.4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ContactId(Arc<str>);

/// Identifier of a chat (spec A 2.4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ChatId(Arc<str>);

/// Identifier of a message row (spec A 2.5; `internalId` in stream events).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct MessageId(Arc<str>);

/// Identifier of a channel: a webchat channel, a phone number id or a social account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ChannelId(Arc<str>);

/// Identifier of a webchat visitor: a CUID, or the `sub` claim of an embed token.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct VisitorId(Arc<str>);

/// Identifier of a webchat identity (spec B 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct IdentityId(Arc<str>);

/// Identifier of a user of the administration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct UserId(Arc<str>);

/// Identifier of a group of users (spec A 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct GroupId(Arc<str>);

/// Identifier of an API client, a machine that administers (spec A 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ApiClientId(Arc<str>);

/// Identifier of a user's device for push notifications (spec A 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct UserDeviceId(Arc<str>);

/// Identifier of a password recovery (spec A 2.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct PasswordRecoveryId(Arc<str>);

/// Identifier of an audit record (spec A 2.7).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct AuditLogId(Arc<str>);

/// Identifier of a credential of a model provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct LlmCredentialId(Arc<str>);

/// Identifier of a phone number of the phone channel, as it is administered (spec A 2.9).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ChannelNumberId(Arc<str>);

/// Identifier of a message template.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct TemplateId(Arc<str>);

/// Identifier of a dead letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct DeadLetterId(Arc<str>);

/// Identifier of an integration of a router (spec A 2.9).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct IntegrationId(Arc<str>);

/// Identifier of a helpdesk queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct QueueId(Arc<str>);

/// Identifier of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct TicketId(Arc<str>);

/// Identifier of an AI agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct AgentId(Arc<str>);

/// Where identifiers and secrets come from; injected, so that tests are repeatable.
pub trait IdSource: Send + Sync + fmt::Debug {
    /// Returns a new row id: 25 characters, greater than every id this source gave before.
    fn next_id(&self) -> String;

    /// `words` unguessable words of 24 characters each, concatenated (CUID2 shape, base 36, 120
    /// bits a word from the operating system's random source).
    fn secret(&self, words: usize) -> String;
}

/// The production [`IdSource`].
#[derive(Debug)]
pub struct Cuids<C> {
    clock: C,
    last: Mutex<(i64, u32)>,
}

/// Width of the counter that orders the ids of one millisecond.
const COUNTER_RANGE: u32 = 36u32.pow(4);

impl<C: crate::time::Clock> Cuids<C> {
    /// Ids whose time comes from `clock`.
    pub fn new(clock: C) -> Self {
        Self { clock, last: Mutex::new((0, 0)) }
    }

    /// Returns the time and counter of the next id. A full counter borrows the next millisecond, and a clock that
    /// steps back is ignored, so that ids only ever grow.
    fn tick(&self) -> (i64, u32) {
        let now = self.clock.now().as_millis();
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *last = match *last {
            (time, counter) if now <= time && counter + 1 < COUNTER_RANGE => (time, counter + 1),
            (time, _) if now <= time => (time + 1, 0),
            _ => (now, 0),
        };
        *last
    }
}

const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Appends `value` in base 36, padded with zeros to `width` digits.
fn push_base36(out: &mut String, mut value: u64, width: usize) {
    let mut digits = [b'0'; 13];
    let digits = &mut digits[..width];
    for slot in digits.iter_mut().rev() {
        *slot = BASE36[(value % 36) as usize];
        value /= 36;
    }
    out.push_str(str::from_utf8(digits).unwrap_or_default());
}

impl<C: crate::time::Clock> IdSource for Cuids<C> {
    fn next_id(&self) -> String {
        let (time, counter) = self.tick();
        let mut id = String::with_capacity(25);
        id.push('c');
        push_base36(&mut id, time.unsigned_abs(), 8);
        push_base36(&mut id, u64::from(counter), 4);
        push_base36(&mut id, rand::rng().random_range(0..36u64.pow(12)), 12);
        id
    }

    fn secret(&self, words: usize) -> String {
        let mut out = String::with_capacity(words * 24);
        for _ in 0..words {
            let mut rng = rand::rng();
            out.push(char::from(b'a' + rng.random_range(0..26u8)));
            push_base36(&mut out, rng.random_range(0..36u64.pow(12)), 12);
            push_base36(&mut out, rng.random_range(0..36u64.pow(11)), 11);
        }
        out
    }
}

/// Returns the least row id of a moment: ids made before `at` sort before it, and all others after it.
pub fn least_id(at: Timestamp) -> String {
    let mut id = String::with_capacity(9);
    id.push('c');
    push_base36(&mut id, u64::try_from(at.as_millis()).unwrap_or(0).min(36u64.pow(8) - 1), 8);
    id
}

/// Returns the moment at which a row id was made, or `None` for an id of another shape.
pub fn created_at(id: &str) -> Option<Timestamp> {
    let time = id.strip_prefix('c')?.get(..8)?;
    i64::from_str_radix(time, 36).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::ManualClock;

    #[test]
    fn ids_have_the_cuid_shape_and_grow_even_when_the_clock_steps_back() {
        let clock = ManualClock::at(1_800_000_000_000);
        let ids = Cuids::new(clock.clone());
        let mut previous = String::new();
        for round in 0..5_000 {
            if round == 2_500 {
                clock.set(Timestamp::from_millis(1_700_000_000_000));
            }
            let id = ids.next_id();
            assert_eq!(id.len(), 25);
            assert!(id.starts_with('c') && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
            assert!(id > previous, "{id} after {previous}");
            previous = id;
        }
        let made = Timestamp::from_millis(1_800_000_000_000);
        assert_eq!(created_at(&previous), Some(made));
        assert!(least_id(made) < previous && previous < least_id(made + std::time::Duration::from_millis(1)));
        assert_eq!(least_id(Timestamp::from_millis(-1)), "c00000000");
        assert_eq!(least_id(Timestamp::from_millis(i64::MAX)), "czzzzzzzz");
    }

    #[test]
    fn secrets_are_words_of_24_characters() {
        let ids = Cuids::new(ManualClock::at(0));
        let secret = ids.secret(2);
        assert_eq!(secret.len(), 48);
        assert_ne!(secret, ids.secret(2));
    }

    #[test]
    fn what_is_no_identifier_is_refused() {
        for bad in ["", "a b", "a/b", "é", "x'--", &"a".repeat(129)] {
            assert_eq!(RouterId::parse(bad), Err(InvalidId), "{bad:?}");
        }
        assert!(RouterId::parse("cm3abc").is_ok());
    }
}
