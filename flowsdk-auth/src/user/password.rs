//! The rules for a new password.

use flowsdk_core::fault::Fault;
use flowsdk_crypto::MAX_SECRET_BYTES;
use secrecy::{ExposeSecret as _, SecretString};

/// Fewest characters of a new password.
pub const MIN_PASSWORD_CHARS: usize = 8;

/// The rule that a new password breaks. It holds where a password is chosen, never where one is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(Invalid, "validation_failed", field = "password")]
pub enum PasswordRule {
    /// It has fewer than 8 characters.
    #[error("a password must have at least {MIN_PASSWORD_CHARS} characters")]
    #[fault(
        pt = "A senha deve ter ao menos 8 caracteres",
        en = "The password must have at least 8 characters"
    )]
    TooShort,
    /// It has more than 72 bytes, which is all that bcrypt reads (rulings A5).
    #[error("a password may have at most {MAX_SECRET_BYTES} bytes")]
    #[fault(pt = "A senha pode ter no máximo 72 bytes", en = "The password may have at most 72 bytes")]
    TooLong,
}

impl PasswordRule {
    /// Checks whether `password` may be chosen.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn check(password: &SecretString) -> Result<(), Self> {
        let password = password.expose_secret();
        if password.chars().count() < MIN_PASSWORD_CHARS {
            return Err(Self::TooShort);
        }
        if password.len() > MAX_SECRET_BYTES { Err(Self::TooLong) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_below_and_bytes_above() {
        for (password, outcome) in [
            (String::new(), Err(PasswordRule::TooShort)),
            ("a".repeat(7), Err(PasswordRule::TooShort)),
            ("é".repeat(7), Err(PasswordRule::TooShort)),
            ("a".repeat(8), Ok(())),
            ("é".repeat(8), Ok(())),
            ("a".repeat(72), Ok(())),
            ("é".repeat(36), Ok(())),
            ("a".repeat(73), Err(PasswordRule::TooLong)),
            ("é".repeat(37), Err(PasswordRule::TooLong)),
        ] {
            assert_eq!(PasswordRule::check(&password.clone().into()), outcome, "{password}");
        }
    }
}
