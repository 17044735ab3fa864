//! Regular expressions of authors: linear in the input by construction, limited in size.

use regex::{Regex, RegexBuilder};

/// Most bytes that a compiled expression may take.
const SIZE_LIMIT: usize = 256 * 1024;
/// Deepest nesting of groups.
const NEST_LIMIT: u32 = 50;

/// `pattern`, found anywhere in a text.
pub(crate) fn search(pattern: &str) -> Result<Regex, regex::Error> {
    build(pattern)
}

/// `pattern`, matching all of a text.
pub(crate) fn full_match(pattern: &str) -> Result<Regex, regex::Error> {
    // By itself first: a stray parenthesis must not escape the group below.
    build(pattern)?;
    build(&format!(r"\A(?:{pattern})\z"))
}

fn build(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).nest_limit(NEST_LIMIT).build()
}
