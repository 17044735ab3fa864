//! The provider's names for a template, its language, its category and its status.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The pattern of a name.
pub const NAME_PATTERN: &str = "^[a-z0-9_]{1,512}$";
/// The pattern of a language.
pub const LANGUAGE_PATTERN: &str = "^[a-z]{2,3}(_[A-Z]{2,4})?$";

/// The error for a text that is not a name or a language of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a name of the provider's")]
pub struct InvalidTemplateName;

fn is_name(text: &str) -> bool {
    (1..=512).contains(&text.len())
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

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $rule:ident, $pattern:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the text as the provider writes it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidTemplateName;
            fn try_from(text: String) -> Result<Self, InvalidTemplateName> {
                if $rule(&text) { Ok(Self(text)) } else { Err(InvalidTemplateName) }
            }
        }

        impl flowsdk_core::cell::TextCell for $name {
            fn as_text(&self) -> &str {
                &self.0
            }

            fn from_text(text: &str) -> Result<Self, flowsdk_core::fault::BoxError> {
                Ok(Self::try_from(text.to_owned())?)
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

texts! {
    /// The name of a template: lower case letters, digits and underscores ([`NAME_PATTERN`]).
    TemplateName: is_name, NAME_PATTERN;
    /// A language of the provider's, such as `pt_BR` ([`LANGUAGE_PATTERN`]).
    TemplateLanguage: is_language, LANGUAGE_PATTERN;
}

macro_rules! names {
    ($($(#[$doc:meta])* $kind:ident { $($(#[$one:meta])* $variant:ident = $name:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $kind {
            $($(#[$one])* #[serde(rename = $name)] $variant),*
        }

        impl $kind {
            /// All values, in the order of declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The one of this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl flowsdk_core::cell::Named for $kind {
            const ALL: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                Self::name(self)
            }
        }
    )*};
}

names! {
    /// The purpose of a template; prices and rules of the provider depend on it.
    TemplateCategory {
        /// Offers and news.
        Marketing = "MARKETING",
        /// Messages that the contact asked for: orders, appointments.
        Utility = "UTILITY",
        /// One-time codes.
        Authentication = "AUTHENTICATION",
    }

    /// The provider's review status of a template. Only an approved one can be sent.
    TemplateStatus {
        /// The provider does not know it yet.
        Draft = "DRAFT",
        /// The provider is reviewing it.
        Pending = "PENDING",
        /// It can be sent.
        Approved = "APPROVED",
        /// The provider refused it.
        Rejected = "REJECTED",
        /// Too many recipients complained; it comes back by itself.
        Paused = "PAUSED",
        /// Too many complained too often.
        Disabled = "DISABLED",
    }
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
