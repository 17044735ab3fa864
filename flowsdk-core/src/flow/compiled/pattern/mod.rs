//! Regular expressions of authors: linear in the input by construction, limited in size, and counted.

mod interner;
mod matcher;

use regex_automata::nfa::thompson::NFA;

pub(crate) use interner::{MAX_COMPILED_ALL, MAX_PATTERNS, PatternError, Patterns};

use crate::flow::work::Work;

/// Most characters of a text in which an expression is looked for: as many as a message may have.
pub(crate) const MAX_SEARCHED: usize = 4_096;

/// The expression of a condition or of a validation.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// `None` when the patterns of its flow were too large before it came: no turn can afford it.
    nfa: Option<NFA>,
}

impl Pattern {
    /// Returns whether it is found among the first [`MAX_SEARCHED`] characters of `text`.
    pub(crate) fn is_found(&self, text: &str, work: &Work) -> bool {
        let Some(nfa) = &self.nfa else {
            work.exhaust();
            return false;
        };
        matcher::is_found(nfa, text, searched(text), work)
    }

    /// Returns whether it, which was compiled for the whole of a text, matches `text`; never one of more than
    /// [`MAX_SEARCHED`] characters.
    pub(crate) fn is_all_of(&self, text: &str, work: &Work) -> bool {
        searched(text) == text.len() && self.is_found(text, work)
    }
}

/// Returns the bytes of the first [`MAX_SEARCHED`] characters.
fn searched(text: &str) -> usize {
    if text.len() <= MAX_SEARCHED {
        return text.len();
    }
    text.char_indices().nth(MAX_SEARCHED).map_or(text.len(), |(end, _)| end)
}

#[cfg(test)]
mod tests;
