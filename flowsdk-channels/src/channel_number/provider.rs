//! Identifiers of the provider of the phone channel.

use flowsdk_core::cell::TextType;
use flowsdk_core::contact::phone_digits;

/// Most digits of an id of the provider.
const MAX_DIGITS: usize = 32;

/// The error for a text that is not an id of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 32 digits")]
pub struct InvalidProviderId;

/// Returns whether a text is an id: 1 to 32 digits. It stands in session ids, `wa-<phoneNumberId>-<phoneNumber>`
/// (spec A 2.6), so nothing else may be in it.
fn is_provider_id(text: &str) -> bool {
    (1..=MAX_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The provider's id of a phone number or of a business account: digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, TextType)]
#[text(
    rule = is_provider_id,
    error = InvalidProviderId,
    schema = "ProviderIdText",
    pattern = "^[0-9]{1,32}$",
    example = "106540352242922",
    description = "The provider's id: digits."
)]
pub struct ProviderId(String);

/// The error for a text that is not a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a phone number with country code")]
pub struct InvalidNumber;

/// A phone number in E.164 without `+`, as contacts have it (spec A 2.4): 8 to 15 digits, the first not 0. A plus sign
/// in front, blanks, dots, hyphens and brackets are dropped, because people write them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, TextType)]
#[text(
    normalize = phone_digits,
    error = InvalidNumber,
    schema = "PhoneNumber",
    pattern = flowsdk_core::contact::PHONE_PATTERN,
    example = "+5511987654321",
    description = flowsdk_core::contact::PHONE_DESCRIPTION
)]
pub struct E164(String);

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
