//! A text with its tokens found.

use super::{Token, View};

/// Longest text, in bytes, that a template makes; the rest is cut off. Without it a flow that sets a variable to
/// `{{x}}{{x}}` in a loop would double it at every step.
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

    /// Returns the whole text, when it has no tokens.
    pub(crate) fn as_literal(&self) -> Option<&str> {
        match &*self.segments {
            [] => Some(""),
            [Segment::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns whether it is an address of a server that its author chose: written out, or in a static variable. A
    /// text of a contact must never choose it.
    pub(crate) fn has_fixed_server(&self) -> bool {
        let ends_host = |rest: &[Segment]| match rest {
            [] => true,
            [Segment::Literal(text), ..] => text.starts_with(['/', '?', '#']),
            [Segment::Token(_), ..] => false,
        };
        let is_static = |token: &Token| matches!(token, Token::Router(_) | Token::Flow(_));
        match &*self.segments {
            [Segment::Token(token), rest @ ..] => is_static(token) && ends_host(rest),
            [Segment::Literal(text), rest @ ..] => {
                let host = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
                match (host, rest) {
                    (None, _) => false,
                    (Some(""), [Segment::Token(token), rest @ ..]) => is_static(token) && ends_host(rest),
                    (Some(host), []) => !host.is_empty(),
                    (Some(host), _) => host.find(['/', '?', '#']).is_some_and(|end| end > 0),
                }
            }
            [] => false,
        }
    }

    /// As [`Template::render`], for an address: values are percent-encoded, so that a text of a contact stays one
    /// part of it. Static variables are inserted as they are; authors write them.
    pub(crate) fn render_address(&self, view: &View<'_>) -> String {
        let mut out = String::with_capacity(64);
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => {
                    view.work.bytes(text.len());
                    out.push_str(text);
                }
                Segment::Token(token @ (Token::Router(_) | Token::Flow(_))) => {
                    view.write(token, &mut out);
                }
                Segment::Token(token) => {
                    let mut value = String::new();
                    if view.write(token, &mut value) {
                        percent_encode(&value, &mut out);
                    }
                }
            }
            if view.work.is_spent() {
                break;
            }
            if out.len() > MAX_RENDERED {
                out.truncate(out.floor_char_boundary(MAX_RENDERED));
                break;
            }
        }
        out
    }

    /// Returns whether it reads static variables, `{{router.*}}` or `{{flow.*}}`.
    pub(crate) fn uses_static_variables(&self) -> bool {
        self.tokens().any(|token| matches!(token, Token::Router(_) | Token::Flow(_)))
    }

    /// Returns whether it is a text body that its values may break out of: it has a value that a contact can choose, or
    /// looks like JSON and has any.
    pub(crate) fn is_open_body(&self) -> bool {
        let is_own = |token: &Token| {
            matches!(
                token,
                Token::Router(_) | Token::Flow(_) | Token::Now | Token::InputType | Token::Missing(_)
            )
        };
        let looks_like_json = match self.segments.first() {
            Some(Segment::Literal(text)) => text.trim_start().starts_with(['{', '[']),
            _ => false,
        };
        self.tokens().any(|token| looks_like_json || !is_own(token))
    }

    /// Returns its tokens, in order.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Literal(_) => None,
            Segment::Token(token) => Some(token),
        })
    }

    /// Returns how many characters it has without its tokens.
    pub(crate) fn literal_chars(&self) -> usize {
        self.segments
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => text.chars().count(),
                Segment::Token(_) => 0,
            })
            .sum()
    }

    /// Returns the text with the values that `view` shows; a part of it when the turn's budget is spent.
    pub(crate) fn render(&self, view: &View<'_>) -> String {
        self.render_within(view, MAX_RENDERED)
    }

    /// As [`Template::render`], of at most `limit` bytes.
    pub(crate) fn render_within(&self, view: &View<'_>, limit: usize) -> String {
        if let [Segment::Literal(text)] = &*self.segments {
            view.work.token(text.len());
            return text[..text.floor_char_boundary(limit)].to_owned();
        }
        let mut out = String::with_capacity(64);
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => {
                    view.work.bytes(text.len());
                    out.push_str(text);
                }
                Segment::Token(token) => {
                    view.write(token, &mut out);
                }
            }
            if view.work.is_spent() {
                break;
            }
            if out.len() > limit {
                out.truncate(out.floor_char_boundary(limit));
                break;
            }
        }
        out
    }
}

/// Appends `text` with everything but the unreserved characters of RFC 3986 encoded.
fn percent_encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}
