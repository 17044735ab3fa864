//! The recovery.

use std::fmt;

use flowsdk_core::id::{PasswordRecoveryId, UserId};
use flowsdk_core::time::Timestamp;

/// A code on its way.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordRecovery {
    /// The id of the password recovery.
    pub id: PasswordRecoveryId,
    /// Whose password it recovers.
    pub user_id: UserId,
    /// Hash of the code (rulings A3).
    pub code_hash: String,
    /// From this moment on the code is void.
    pub expires_at: Timestamp,
    /// Used, replaced by a newer one, or tried wrongly too often.
    pub completed: bool,
    /// How often a wrong code was tried.
    pub wrong_tries: u32,
    /// When it was created.
    pub created_at: Timestamp,
}

impl fmt::Debug for PasswordRecovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordRecovery").field("id", &self.id).finish_non_exhaustive()
    }
}
