//! A text with its tokens found.

use super::{Token, View};

/// Longest text, in bytes, that a template makes; what is beyond is cut off. Without it a flow that
/// sets a variable to `{{x}}{{x}}` in a loop would double it at every step.
pub(crate) const MAX_RENDERED: usize = 64 * 1024;

/// A text whose tokens were found once. Rendering replaces each with its value, or with nothing
/// when it has none (spec A 9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    segments: Box<[Segment]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Literal(Box<str>),
    Token(Token),
}

impl Template {
    /// Finds the tokens of `text`. Braces that make no token stay text.
    pub(crate) fn parse(text: &str) -> Self {
        Self { segments: super::parse::segments(text).into() }
    }

    /// The whole text, when it has no tokens.
    pub(crate) fn as_literal(&self) -> Option<&str> {
        match &*self.segments {
            [] => Some(""),
            [Segment::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether it reads static variables, `{{router.*}}` or `{{flow.*}}`.
    pub(crate) fn uses_static_variables(&self) -> bool {
        self.tokens().any(|token| matches!(token, Token::Router(_) | Token::Flow(_)))
    }

    /// Its tokens, in order.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(_) => None,
            Segment::Token(token) => Some(token),
        })
    }

    /// How many characters it has without its tokens.
    pub(crate) fn literal_chars(&self) -> usize {
        self.segments
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => text.chars().count(),
                Segment::Token(_) => 0,
            })
            .sum()
    }

    /// The text with the values that `view` shows.
    pub(crate) fn render(&self, view: &View<'_>) -> String {
        self.render_within(view, MAX_RENDERED)
    }

    /// As [`Template::render`], of at most `limit` bytes.
    pub(crate) fn render_within(&self, view: &View<'_>, limit: usize) -> String {
        if let [Segment::Literal(text)] = &*self.segments {
            return text[..text.floor_char_boundary(limit)].to_owned();
        }
        let mut out = String::with_capacity(64);
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => out.push_str(text),
                Segment::Token(token) => view.write(token, &mut out),
            }
            if out.len() > limit {
                out.truncate(out.floor_char_boundary(limit));
                break;
            }
        }
        out
    }
}
