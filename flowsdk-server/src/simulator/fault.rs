//! What the provider is told to do wrong.

use serde::{Deserialize, Serialize};

/// A fault of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// The call is refused.
    Refuse {
        /// The code of the error.
        code: i64,
        /// Seconds of a `Retry-After` header.
        #[serde(default)]
        retry_after: Option<u64>,
    },
    /// The message is taken, and the connection ends without an answer.
    LoseAnswer,
    /// The connection ends, and the message is not taken.
    Drop,
    /// The message is taken, and a status says later that it failed.
    FailStatus {
        /// The code of the error.
        code: i64,
    },
    /// The answer comes after this time.
    Delay {
        /// Milliseconds.
        millis: u64,
    },
}
