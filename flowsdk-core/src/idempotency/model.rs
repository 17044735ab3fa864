//! The request and its answer.

use std::time::Duration;

/// How long an answer is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A text that is not an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 255 visible characters of ASCII")]
pub struct InvalidIdempotencyKey;

/// The caller's name for one request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Returns a key from the header `Idempotency-Key`: 1 to 255 visible characters of ASCII.
    pub fn parse(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let fits = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidIdempotencyKey) }
    }

    /// Returns the key as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A request that may be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// The principal who makes it: keys of different principals are different.
    pub principal_id: String,
    /// The key that the caller sent.
    pub key: IdempotencyKey,
    /// A digest of method, path and body: the same key with another one is an error.
    pub digest: String,
}

/// The answer to the first request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The HTTP status of the first answer.
    pub status: u16,
    /// The body of the first answer, as JSON.
    pub body: String,
}

/// The state of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It is new: do it, then [finish](super::IdempotencyRepository::finish) it in the same transaction.
    First,
    /// It was done before; this is its answer.
    Replay(StoredAnswer),
    /// The key was used for another request.
    OtherRequest,
}
