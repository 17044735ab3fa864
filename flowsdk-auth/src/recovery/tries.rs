//! The effect of a try of a code on its recovery (rulings A3).

use super::PasswordRecovery;

/// Wrong tries that complete a recovery.
const MOST_WRONG_TRIES: u32 = 5;

/// Returns the recovery after a try of a code that was wrong.
pub(super) fn after_wrong_try(mut recovery: PasswordRecovery) -> PasswordRecovery {
    recovery.wrong_tries = recovery.wrong_tries.saturating_add(1);
    recovery.completed = recovery.completed || recovery.wrong_tries >= MOST_WRONG_TRIES;
    recovery
}

#[cfg(test)]
mod tests {
    use flowsdk_core::id::{PasswordRecoveryId, UserId};
    use flowsdk_core::time::Timestamp;

    use super::*;

    #[test]
    fn the_fifth_wrong_try_completes_a_recovery() {
        let mut recovery = PasswordRecovery {
            id: PasswordRecoveryId::parse("c1").expect("an id"),
            user_id: UserId::parse("c2").expect("an id"),
            code_hash: "the-hash".to_owned(),
            expires_at: Timestamp::from_millis(1),
            completed: false,
            wrong_tries: 0,
            created_at: Timestamp::from_millis(0),
        };
        assert!(!format!("{recovery:?}").contains("the-hash"));
        for (tries, completed) in [(1, false), (2, false), (3, false), (4, false), (5, true), (6, true)] {
            recovery = after_wrong_try(recovery);
            assert_eq!((recovery.wrong_tries, recovery.completed), (tries, completed));
        }
    }
}
