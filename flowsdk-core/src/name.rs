//! Names that people give to things.

use crate::cell::TextType;

/// Most characters of a name.
pub const MAX_NAME_LEN: usize = 200;

/// A text that is not a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a name: it is blank, or longer than {MAX_NAME_LEN} characters")]
pub struct InvalidName;

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME_LEN
}

/// A name that is not blank, of at most [`MAX_NAME_LEN`] characters. Commands hold one; a row keeps its text.
///
/// A field of a body names its limits in its schema too, because the document shows them and an example at each field.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    rule = is_name,
    error = InvalidName,
    schema = "NameText",
    pattern = r"\S",
    min_length = 1,
    max_length = MAX_NAME_LEN
)]
pub struct Name(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_blank_and_not_long() {
        let longest = "ã".repeat(MAX_NAME_LEN);
        for good in ["a", " Ação 👋 ", &longest] {
            assert_eq!(Name::parse(good).map(String::from).as_deref(), Ok(good));
        }
        for bad in ["", "  ", "\n\t", "\u{a0}", &format!("{longest}ã")] {
            assert_eq!(Name::parse(bad), Err(InvalidName), "{bad:?}");
        }
    }
}
