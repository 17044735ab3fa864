//! Texts as authors write them, with places for values.

use super::Template;
use crate::message::Reading;

/// Reads texts before they are rendered: their tokens may become anything.
pub(crate) struct AsWritten;

impl Reading for AsWritten {
    fn chars(&self, text: &str) -> usize {
        Template::parse(text).literal_chars()
    }

    fn is_literal(&self, text: &str) -> bool {
        Template::parse(text).as_literal().is_some()
    }
}
