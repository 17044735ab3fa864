//! Texts with placeholders.

use std::borrow::Cow;

/// Returns a text with the values of its placeholders, `{{key}}`. One without a value stays as it is.
pub(crate) fn fill<'a>(text: &str, value: impl Fn(&str) -> Option<Cow<'a, str>>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let Some(end) = from.find("}}") else {
            rest = from;
            break;
        };
        let (placeholder, after) = from.split_at(end + 2);
        let key = placeholder.trim_start_matches("{{").trim_end_matches("}}").trim();
        match value(key) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(placeholder),
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}
