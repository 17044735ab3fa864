//! Identities of contacts as they are typed in (spec A 2.4).

use crate::cell::TextType;
use crate::session::{Channel, SessionId};

/// Longest identity or alias, in bytes.
pub const MAX_IDENTITY: usize = 300;

/// A text that is not an identity of its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identity")]
pub struct InvalidIdentity;

/// An identity: digits of a number in E.164, `wc-<channelId>-<userId>` or `ig-<igsid>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactIdentity {
    text: String,
    channel: Channel,
}

impl ContactIdentity {
    /// Reads the identity of a contact of `channel`: a number as people write it, other identities to the letter.
    pub fn parse(channel: Channel, text: &str) -> Result<Self, InvalidIdentity> {
        let fits = match channel {
            Channel::Phone => {
                let text = phone_digits(text).ok_or(InvalidIdentity)?;
                return Ok(Self { text, channel });
            }
            // It must equal the identity of its session.
            Channel::Webchat => SessionId::parse(text)
                .is_ok_and(|id| id.channel() == Channel::Webchat && id.contact_identity() == text),
            Channel::Social => text.strip_prefix("ig-").is_some_and(is_visible),
        };
        let fits = fits && text.len() <= MAX_IDENTITY;
        if fits { Ok(Self { text: text.to_owned(), channel }) } else { Err(InvalidIdentity) }
    }

    /// Returns the identity as it is stored.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the channel that it belongs to.
    pub fn channel(&self) -> Channel {
        self.channel
    }

    /// The id of the channel in the identity, if there is one: see [`channel_in`].
    pub fn channel_id(&self) -> Option<String> {
        channel_in(&self.text)
    }
}

/// Returns the id of the channel that an identity or alias names, as incoming events name it: `wc-<channelId>` of a web
/// chat identity. Phone numbers and the users of social accounts name none.
pub fn channel_in(identity: &str) -> Option<String> {
    let id = SessionId::parse(identity).ok().filter(|id| id.channel() == Channel::Webchat)?;
    Some(id.phone_number_id().to_owned())
}

/// Returns whether an identity or alias begins as those of the web chat do, whatever follows.
pub(crate) fn is_of_webchat(identity: &str) -> bool {
    let prefix = Channel::Webchat.prefix();
    identity.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// The pattern of a phone number as people write it.
pub const PHONE_PATTERN: &str = r"^\s*\+?[0-9 ().-]{8,32}$";
/// The parts of a phone number, in words for documents.
pub const PHONE_DESCRIPTION: &str =
    "With country code: 8 to 15 digits; blanks, dots, hyphens and brackets are dropped.";

/// Returns the digits of a phone number. Blanks, dots, hyphens, brackets and a leading plus sign are left out. `None`
/// for any other character.
pub fn phone_digits(text: &str) -> Option<String> {
    let kept: String = text.chars().filter(|c| !matches!(c, ' ' | '(' | ')' | '.' | '-')).collect();
    let digits = kept.strip_prefix('+').unwrap_or(&kept);
    is_phone_number(digits).then(|| digits.to_owned())
}

/// 8 to 15 digits that do not begin with 0 (E.164, without the plus sign).
pub fn is_phone_number(text: &str) -> bool {
    (8..=15).contains(&text.len()) && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the other form in which the provider of the phone channel may write a number: Brazilian mobile numbers with and
/// without the ninth digit, Mexican ones with and without the 1 behind the country code, Argentinian ones with and without
/// the 9 there (rulings C5).
pub fn other_form(number: &str) -> Option<String> {
    let (country, national) = number.split_at_checked(2)?;
    let is = |digits: usize| national.len() == digits;
    match country {
        "55" => {
            let (area, own) = national.split_at_checked(2)?;
            let is_mobile = |own: &str| own.starts_with(['6', '7', '8', '9']);
            match own.strip_prefix('9') {
                Some(short) if is(11) && is_mobile(short) => Some(format!("55{area}{short}")),
                _ if is(10) && is_mobile(own) => Some(format!("55{area}9{own}")),
                _ => None,
            }
        }
        "52" | "54" => {
            let mark = if country == "52" { '1' } else { '9' };
            match national.strip_prefix(mark) {
                Some(short) if is(11) => Some(format!("{country}{short}")),
                _ if is(10) => Some(format!("{country}{mark}{national}")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a number and, behind it, its [other form](other_form), where it has one.
pub fn forms_of(number: &str) -> impl Iterator<Item = String> {
    std::iter::once(number.to_owned()).chain(other_form(number))
}

/// Returns whether a text is the id that the provider of the phone channel gives to a user for one business: the code of a
/// country, a dot, letters and digits.
pub fn is_user_id(text: &str) -> bool {
    let Some((country, own)) = text.split_once('.') else { return false };
    let is_own =
        !own.is_empty() && own.len() <= 128 && own.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
    country.len() == 2 && country.bytes().all(|b| b.is_ascii_uppercase()) && is_own
}

/// Returns whether a text is an alias: visible ASCII characters, at most [`MAX_IDENTITY`].
fn is_alias(text: &str) -> bool {
    is_visible(text) && text.len() <= MAX_IDENTITY
}

/// An alias of a contact: an id that a provider may use.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    rule = is_alias,
    error = InvalidIdentity,
    schema = "AliasText",
    pattern = "^[!-~]+$",
    min_length = 1,
    max_length = MAX_IDENTITY,
    example = "551187654321"
)]
pub struct Alias(String);

fn is_visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_the_provider_writes_in_two_ways() {
        for (one, other) in [
            ("5511987654321", Some("551187654321")),
            ("551187654321", Some("5511987654321")),
            // A landline, and a number that is mobile in its long form only.
            ("551132654321", None),
            ("5511932654321", None),
            ("5215512345678", Some("525512345678")),
            ("525512345678", Some("5215512345678")),
            ("5491123456789", Some("541123456789")),
            ("541123456789", Some("5491123456789")),
            ("15550783881", None),
            ("55", None),
            ("", None),
            ("5\u{e9}11987654321", None),
        ] {
            assert_eq!(other_form(one).as_deref(), other, "{one}");
            if let Some(other) = other {
                assert_eq!(other_form(other).as_deref(), Some(one), "{other}");
            }
        }
        for (text, good) in [
            ("BR.13491208655302741918", true),
            ("US.ENT.11815799212886844830", true),
            ("br.1", false),
            ("BR.", false),
            ("5511987654321", false),
            ("wc-c1-a", false),
            ("BR.a-b", false),
        ] {
            assert_eq!(is_user_id(text), good, "{text}");
        }
    }

    #[test]
    fn identities_of_each_channel() {
        for (channel, text, good) in [
            (Channel::Phone, "5511987654321", true),
            (Channel::Phone, "+55 (11) 98765-4321", true),
            (Channel::Phone, "55 11 98765 4321 r. 2", false),
            (Channel::Phone, "0511987654321", false),
            (Channel::Phone, "1234567", false),
            (Channel::Phone, "1234567890123456", false),
            (Channel::Phone, "٣٣٣٣٣٣٣٣", false),
            (Channel::Webchat, "wc-c1-user", true),
            (Channel::Webchat, "wc-c1-user-ctx0123456789abcdef", false),
            (Channel::Webchat, "wc-c1", false),
            (Channel::Webchat, "ig-1", false),
            (Channel::Social, "ig-42", true),
            (Channel::Social, "ig-", false),
            (Channel::Social, "42", false),
        ] {
            assert_eq!(ContactIdentity::parse(channel, text).is_ok(), good, "{text}");
        }
        let webchat = ContactIdentity::parse(Channel::Webchat, "wc-c1-a-b").expect("an identity");
        assert_eq!(webchat.channel_id().as_deref(), Some("wc-c1"));
        for (alias, channel) in [
            ("wc-c1-a", Some("wc-c1")),
            ("wc-c1-a-ctx0123456789abcdef", Some("wc-c1")),
            ("wc-c1", None),
            ("5511987654321", None),
            ("ig-42", None),
            ("BR.13491208655302741918", None),
        ] {
            assert_eq!(channel_in(alias).as_deref(), channel, "{alias}");
        }
        assert_eq!(
            Alias::parse("BR.13491208655302741918").map(String::from).as_deref(),
            Ok("BR.13491208655302741918")
        );
        for bad in ["", "a b", "é", &"a".repeat(MAX_IDENTITY + 1)] {
            assert_eq!(Alias::parse(bad), Err(InvalidIdentity), "{bad:?}");
        }
    }
}
