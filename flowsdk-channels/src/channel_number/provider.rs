//! Identifiers of the provider of the phone channel.

use std::fmt;

use flowsdk_core::contact::phone_digits;
use serde::{Deserialize, Serialize};

/// Most digits of an id of the provider.
const MAX_DIGITS: usize = 32;

/// The error for a text that is not an id of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 32 digits")]
pub struct InvalidProviderId;

/// The provider's id of a phone number or of a business account: digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProviderId(String);

impl ProviderId {
    /// An id: 1 to 32 digits. It stands in session ids, `wa-<phoneNumberId>-<phoneNumber>` (spec A 2.6), so
    /// nothing else may be in it.
    ///
    /// # Errors
    /// [`InvalidProviderId`].
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidProviderId> {
        let text = text.into();
        let fits = (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Self(text)) } else { Err(InvalidProviderId) }
    }

    /// Returns the id as the provider writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The error for a text that is not a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a phone number with country code")]
pub struct InvalidNumber;

/// A phone number in E.164 without `+`, as contacts have it (spec A 2.4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct E164(String);

impl E164 {
    /// A number: 8 to 15 digits, the first not 0. A plus sign in front, blanks, dots, hyphens and brackets are
    /// dropped, because people write them.
    ///
    /// # Errors
    /// [`InvalidNumber`].
    pub fn parse(text: &str) -> Result<Self, InvalidNumber> {
        phone_digits(text).map(Self).ok_or(InvalidNumber)
    }

    /// Returns the digits of the number.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! text {
    ($($name:ident: $error:ty),*) => {$(
        impl TryFrom<String> for $name {
            type Error = $error;
            fn try_from(text: String) -> Result<Self, $error> {
                Self::parse(&text[..])
            }
        }

        impl flowsdk_core::cell::TextCell for $name {
            fn as_text(&self) -> &str {
                &self.0
            }

            fn from_text(text: &str) -> Result<Self, flowsdk_core::fault::BoxError> {
                Ok(Self::parse(text)?)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text! { ProviderId: InvalidProviderId, E164: InvalidNumber }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_provider_are_digits() {
        for good in ["1", "106540352242922", &"9".repeat(32)] {
            assert_eq!(ProviderId::parse(good).map(|id| id.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", "-1", "1-2", "wa-1", " 1", "1\n", "١", &"9".repeat(33)] {
            assert_eq!(ProviderId::parse(bad), Err(InvalidProviderId), "{bad:?}");
        }
    }

    #[test]
    fn numbers_are_kept_without_what_people_add() {
        for (written, kept) in [("+55 (11) 98765-4321", "5511987654321"), ("1.650.555.0100", "16505550100")] {
            assert_eq!(E164::parse(written).map(|number| number.to_string()).as_deref(), Ok(kept));
        }
        for bad in
            ["", "1234567", "1234567890123456", "05511987654321", "55+11987654321", "call me", "٣٣٣٣٣٣٣٣"]
        {
            assert_eq!(E164::parse(bad), Err(InvalidNumber), "{bad:?}");
        }
    }
}
