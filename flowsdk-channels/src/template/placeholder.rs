//! The positional placeholders of a text, `{{1}}`, `{{2}}` … (spec A 4.8).

use std::collections::BTreeSet;

/// Placeholders that the provider would refuse: named, unclosed, or with a gap in their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("placeholders must be {{{{1}}}}, {{{{2}}}} … without a gap")]
pub struct InvalidPlaceholders;

/// A send with another number of values than the text has placeholders: the provider refuses it (132000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{found} values for {expected} placeholders")]
pub struct WrongCount {
    /// Placeholders of the text.
    pub expected: usize,
    /// Values that were given.
    pub found: usize,
}

/// A piece of a text.
enum Piece<'a> {
    Text(&'a str),
    /// Its number, from 1.
    Placeholder(usize),
}

/// The pieces of a text, in order.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, InvalidPlaceholders> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (inner, after) = after.split_once("}}").ok_or(InvalidPlaceholders)?;
        // Neither blanks nor a leading zero nor a sign, as the provider.
        let is_number = inner.bytes().all(|byte| byte.is_ascii_digit()) && !inner.starts_with('0');
        let number = inner.parse().ok().filter(|_| is_number).ok_or(InvalidPlaceholders)?;
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Placeholder(number));
        rest = after;
    }
    if rest.contains("}}") {
        return Err(InvalidPlaceholders);
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// How many values a text wants: its placeholders are numbered from 1 without a gap, and one that stands twice
/// takes one value.
///
/// # Errors
/// [`InvalidPlaceholders`].
pub fn count_placeholders(text: &str) -> Result<usize, InvalidPlaceholders> {
    let pieces = pieces(text)?;
    let numbers: BTreeSet<usize> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Placeholder(number) => Some(*number),
            Piece::Text(_) => None,
        })
        .collect();
    match numbers.last() {
        Some(&last) if last != numbers.len() => Err(InvalidPlaceholders),
        _ => Ok(numbers.len()),
    }
}

/// Returns the text with each placeholder replaced by its value, once; a placeholder in a value stays text.
///
/// # Errors
/// [`WrongCount`]. A text whose placeholders are wrong takes none and stays as it is.
pub fn render_body(text: &str, values: &[String]) -> Result<String, WrongCount> {
    let counted = count_placeholders(text);
    let expected = counted.unwrap_or(0);
    if expected != values.len() {
        return Err(WrongCount { expected, found: values.len() });
    }
    let pieces = match (counted, pieces(text)) {
        (Ok(_), Ok(pieces)) => pieces,
        _ => vec![Piece::Text(text)],
    };
    let shown = |piece| match piece {
        Piece::Text(text) => text,
        // They are numbered from 1 without a gap, so there is a value for each.
        Piece::Placeholder(number) => values.get(number - 1).map_or("", String::as_str),
    };
    Ok(pieces.into_iter().map(shown).collect())
}

/// Returns whether a text begins or ends with a placeholder, which the provider refuses in a body.
pub(super) fn has_placeholder_at_edge(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("{{") || text.ends_with("}}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn placeholders_are_counted() {
        for (text, count) in [
            ("", Ok(0)),
            ("Olá", Ok(0)),
            ("Olá {{1}}!", Ok(1)),
            ("{{2}} e {{1}}", Ok(2)),
            ("{{1}} {{1}}", Ok(1)),
            ("{1} { {1} } {", Ok(0)),
            ("{{1}} {{3}}", Err(InvalidPlaceholders)),
            ("{{2}}", Err(InvalidPlaceholders)),
            ("{{0}}", Err(InvalidPlaceholders)),
            ("{{01}}", Err(InvalidPlaceholders)),
            ("{{+1}}", Err(InvalidPlaceholders)),
            ("{{ 1 }}", Err(InvalidPlaceholders)),
            ("{{name}}", Err(InvalidPlaceholders)),
            ("{{}}", Err(InvalidPlaceholders)),
            ("{{1", Err(InvalidPlaceholders)),
            ("1}}", Err(InvalidPlaceholders)),
            ("{{99999999999999999999999}}", Err(InvalidPlaceholders)),
        ] {
            assert_eq!(count_placeholders(text), count, "{text}");
        }
    }

    #[test]
    fn a_body_is_rendered_in_one_pass() {
        let values = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>();
        for (text, given, rendered) in [
            ("Olá", &[][..], "Olá"),
            ("Olá {{1}}, pedido {{2}}.", &["Ana", "7"], "Olá Ana, pedido 7."),
            ("{{2}}{{1}}{{2}}", &["a", "b"], "bab"),
            ("x {{1}} {{2}}", &["{{2}}", "{{1}}"], "x {{2}} {{1}}"),
            ("é {{1}} 👋", &[""], "é  👋"),
            ("{{name}}", &[], "{{name}}"),
            ("{{2}}", &[], "{{2}}"),
        ] {
            assert_eq!(render_body(text, &values(given)).as_deref(), Ok(rendered), "{text}");
        }
        let wrong = |expected, found| Err(WrongCount { expected, found });
        assert_eq!(render_body("{{1}}", &[]), wrong(1, 0));
        assert_eq!(render_body("a", &values(&["b"])), wrong(0, 1));
        assert_eq!(render_body("{{1}} {{2}}", &values(&["b"])), wrong(2, 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        /// Any text is counted and rendered without a panic, and with values that stand for themselves nothing changes.
        #[test]
        fn rendering_with_the_placeholders_themselves_changes_nothing(text in "(\\{\\{[0-4a]?\\}\\}|[a{}é ]){0,12}", more in any::<u8>()) {
            let count = count_placeholders(&text).unwrap_or(0);
            let values: Vec<String> = (1..=count).map(|number| format!("{{{{{number}}}}}")).collect();
            let rendered = render_body(&text, &values);
            prop_assert_eq!(rendered.as_deref(), Ok(text.as_str()));
            let too_many = vec![String::new(); count + 1 + usize::from(more)];
            prop_assert_eq!(render_body(&text, &too_many).is_err(), true);
        }
    }
}
