//! Texts for people: Portuguese, the language of the contract, and an English twin (rulings H2).

use std::borrow::Cow;

/// A language that texts are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// The language of the contract, and of a caller without a preference.
    #[default]
    Portuguese,
    /// The language of callers who prefer it.
    English,
}

impl Language {
    /// Returns the language of a tag such as `en`, `en-GB` or `pt_BR.UTF-8`, if it is one of ours.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_', '.']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("en") {
            Some(Self::English)
        } else if primary.eq_ignore_ascii_case("pt") {
            Some(Self::Portuguese)
        } else {
            None
        }
    }

    /// Returns the language that an `Accept-Language` header prefers among ours. An absent one, `*` and a header
    /// that names neither of them mean `default` (RFC 9110 12.5.4).
    pub fn preferred(accept_language: &str, default: Self) -> Self {
        let mut best = (0.0, default);
        for range in accept_language.split(',') {
            let (tag, weight) = match range.split_once(';') {
                None => (range, 1.0),
                Some((tag, parameter)) => {
                    let weight = parameter.trim().strip_prefix("q=").and_then(|q| q.parse::<f32>().ok());
                    (tag, weight.unwrap_or(0.0))
                }
            };
            let any = (tag.trim() == "*").then_some(default);
            let Some(language) = Self::of_tag(tag).or(any) else { continue };
            if weight > best.0 {
                best = (weight, language);
            }
        }
        best.1
    }
}

/// A text in every language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    portuguese: Cow<'static, str>,
    english: Cow<'static, str>,
}

impl Text {
    /// Creates a fixed text.
    pub const fn new(portuguese: &'static str, english: &'static str) -> Self {
        Self { portuguese: Cow::Borrowed(portuguese), english: Cow::Borrowed(english) }
    }

    /// Returns a text that was put together.
    pub fn of(portuguese: String, english: String) -> Self {
        Self { portuguese: Cow::Owned(portuguese), english: Cow::Owned(english) }
    }

    /// The same made of both.
    #[must_use]
    pub fn map(&self, make: impl Fn(&str) -> String) -> Self {
        Self::of(make(&self.portuguese), make(&self.english))
    }

    /// Returns the text in `language`.
    pub fn into_language(self, language: Language) -> Cow<'static, str> {
        match language {
            Language::Portuguese => self.portuguese,
            Language::English => self.english,
        }
    }

    /// Returns the text of the contract.
    pub fn portuguese(&self) -> &str {
        &self.portuguese
    }

    /// Returns its English twin.
    pub fn english(&self) -> &str {
        &self.english
    }
}

#[cfg(test)]
mod tests {
    use super::Language::{self, English, Portuguese};

    #[test]
    fn the_preferred_language() {
        for (header, language) in [
            ("", Portuguese),
            ("*", Portuguese),
            ("en", English),
            ("en-US,en;q=0.9", English),
            ("pt-BR,pt;q=0.9,en;q=0.8", Portuguese),
            ("en;q=0.5, pt;q=0.7", Portuguese),
            ("de, en;q=0.3", English),
            ("de, fr", Portuguese),
            ("en;q=0, *", Portuguese),
            ("en;q=nonsense", Portuguese),
            (";;;,,,=", Portuguese),
        ] {
            assert_eq!(Language::preferred(header, Portuguese), language, "{header:?}");
        }
        for (header, language) in [("", English), ("*", English), ("de, fr", English), ("pt", Portuguese)] {
            assert_eq!(Language::preferred(header, English), language, "{header:?}");
        }
    }

    #[test]
    fn the_language_of_a_tag() {
        for (tag, language) in [
            ("en", Some(English)),
            ("EN-us", Some(English)),
            ("pt_BR.UTF-8", Some(Portuguese)),
            ("pt-PT", Some(Portuguese)),
            ("C.UTF-8", None),
            ("entropy", None),
            ("", None),
        ] {
            assert_eq!(Language::of_tag(tag), language, "{tag:?}");
        }
    }
}
