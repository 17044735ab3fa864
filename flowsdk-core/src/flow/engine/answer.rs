//! The validation of an answer, and its stored form.

use super::compare::{Number, fold, parse_date};
use super::condition::reply_of;
use crate::flow::Work;
use crate::flow::compiled::Rule;
use crate::message::IncomingContent;

/// Returns the stored form of `content` when `rule` accepts it: the canonical form of the text. For a tapped reply
/// the rule is tried on its id, then on its title.
pub(super) fn accept(rule: Option<&Rule>, content: &IncomingContent, work: &Work) -> Option<String> {
    let (first, second) = match reply_of(content) {
        Some((id, title)) => (id, Some(title)),
        None => (content.as_text(), None),
    };
    match rule {
        None => Some(first.to_owned()),
        Some(rule) => rule.canonical(first, work).or_else(|| rule.canonical(second?, work)),
    }
}

impl Rule {
    /// `text` in the form in which it is stored, when it is valid.
    fn canonical(&self, text: &str, work: &Work) -> Option<String> {
        if !work.comparison(text.len()) {
            return None;
        }
        let trimmed = text.trim();
        match self {
            Self::Text { min, max } => {
                let length = trimmed.chars().count();
                (length > 0 && (*min..=*max).contains(&length)).then(|| trimmed.to_owned())
            }
            Self::Number { min, max, integer } => {
                let text = decimal_point(trimmed);
                let number = Number::parse(&text)?;
                let fits = (*min..=*max).contains(&number.as_f64());
                let whole = matches!(number, Number::Integer(_)) || number.as_f64().fract() == 0.0;
                (fits && (whole || !integer)).then_some(text)
            }
            Self::Email => is_email(trimmed).then(|| trimmed.to_owned()),
            Self::Date => parse_date(trimmed).map(|date| date.to_string()),
            Self::Phone => phone(trimmed),
            Self::Options(options) => {
                work.folding(trimmed);
                let folded = fold(trimmed);
                let option = options.iter().find(|(_, option)| work.comparison(0) && *option == folded);
                option.map(|(listed, _)| listed.clone())
            }
            Self::Regex(pattern) => pattern.is_all_of(trimmed, work).then(|| trimmed.to_owned()),
        }
    }
}

/// `10,5` as `10.5`; a text with a point, or with several commas, stays as it is.
fn decimal_point(text: &str) -> String {
    if text.contains('.') || text.matches(',').count() != 1 {
        return text.to_owned();
    }
    text.replace(',', ".")
}

// As strict as a form needs; only a message proves that an address exists.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '@' | ',' | ';' | '<' | '>' | '"');
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    text.len() <= 254
        && (1..=64).contains(&local.len())
        && local.chars().all(plain)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && domain.contains('.')
        && domain.split('.').all(label)
}

/// Digits with an optional `+` in front: 8 to 15 of them (E.164).
fn phone(text: &str) -> Option<String> {
    let (plus, rest) = match text.strip_prefix('+') {
        Some(rest) => ("+", rest),
        None => ("", text),
    };
    let mut number = String::from(plus);
    for c in rest.chars() {
        match c {
            '0'..='9' => number.push(c),
            ' ' | '-' | '.' | '(' | ')' | '/' | '\u{a0}' => {}
            _ => return None,
        }
    }
    (8..=15).contains(&(number.len() - plus.len())).then_some(number)
}
