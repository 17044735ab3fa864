//! The provider's names for a template, its language, its category and its status.

use flowsdk_core::cell::{Named, TextType};
use serde::{Deserialize, Serialize};

/// The pattern of a name.
pub const NAME_PATTERN: &str = "^[a-z0-9_]{1,512}$";
/// Longest name.
const MAX_NAME_LEN: usize = 512;
/// The pattern of a language.
pub const LANGUAGE_PATTERN: &str = "^[a-z]{2,3}(_[A-Z]{2,4})?$";

/// The error for a text that is not a name or a language of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a name of the provider's")]
pub struct InvalidTemplateName;

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_LEN).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_language(text: &str) -> bool {
    let (language, country) = text.split_once('_').map_or((text, None), |(a, b)| (a, Some(b)));
    (2..=3).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && country.is_none_or(|country| {
            (2..=4).contains(&country.len()) && country.bytes().all(|byte| byte.is_ascii_uppercase())
        })
}

/// The name of a template: lower case letters, digits and underscores ([`NAME_PATTERN`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash, TextType)]
#[text(
    rule = is_name,
    error = InvalidTemplateName,
    schema = "TemplateNameText",
    pattern = NAME_PATTERN,
    max_length = MAX_NAME_LEN,
    example = "order_update"
)]
pub struct TemplateName(String);

/// A language of the provider's, such as `pt_BR` ([`LANGUAGE_PATTERN`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash, TextType)]
#[text(
    rule = is_language,
    error = InvalidTemplateName,
    schema = "TemplateLanguageText",
    pattern = LANGUAGE_PATTERN,
    example = "pt_BR"
)]
pub struct TemplateLanguage(String);

/// The purpose of a template; prices and rules of the provider depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "UPPERCASE")]
pub enum TemplateCategory {
    /// Offers and news.
    Marketing,
    /// Messages that the contact asked for: orders, appointments.
    Utility,
    /// One-time codes.
    Authentication,
}

/// The provider's review status of a template. Only an approved one can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "UPPERCASE")]
#[named(description = "Only an `APPROVED` one can be sent.")]
pub enum TemplateStatus {
    /// The provider does not know it yet.
    Draft,
    /// The provider is reviewing it.
    Pending,
    /// It can be sent.
    Approved,
    /// The provider refused it.
    Rejected,
    /// Too many recipients complained; it comes back by itself.
    Paused,
    /// Too many complained too often.
    Disabled,
}

/// What contacts think of a template, as the provider rates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "UPPERCASE")]
pub enum TemplateQuality {
    /// Good.
    Green,
    /// Some complain.
    Yellow,
    /// Many complain: it may be paused soon.
    Red,
    /// Nobody knows yet.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_languages_follow_their_patterns() {
        let name = regex::Regex::new(NAME_PATTERN).expect("a pattern");
        let language = regex::Regex::new(LANGUAGE_PATTERN).expect("a pattern");
        for text in [
            "",
            "a",
            "order_update_2",
            "Order",
            "a b",
            "é",
            "a-b",
            "pt_BR",
            "en",
            "fil",
            "zh_HANS",
            "PT",
            "pt_br",
            "pt-BR",
            "pt_",
            "p",
            "abcd",
            "pt_B",
            "pt_BR_X",
            &"a".repeat(512),
            &"a".repeat(513),
        ] {
            assert_eq!(TemplateName::try_from(text.to_owned()).is_ok(), name.is_match(text), "{text}");
            assert_eq!(
                TemplateLanguage::try_from(text.to_owned()).is_ok(),
                language.is_match(text),
                "{text}"
            );
        }
    }

    #[test]
    fn wire_names_are_the_providers() {
        for status in TemplateStatus::ALL {
            assert_eq!(serde_json::to_value(status).expect("JSON"), status.name());
            assert_eq!(TemplateStatus::parse(status.name()), Some(status));
        }
        for category in TemplateCategory::ALL {
            assert_eq!(serde_json::to_value(category).expect("JSON"), category.name());
            assert_eq!(TemplateCategory::parse(category.name()), Some(category));
        }
        assert_eq!(TemplateStatus::parse("approved"), None);
    }
}
