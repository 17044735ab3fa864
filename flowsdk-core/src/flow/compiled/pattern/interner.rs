//! The expressions of one flow, each compiled once, within a limit for all of them.

use std::collections::HashMap;

use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::syntax;

use super::Pattern;
use crate::text::Text;

/// Longest expression, in bytes.
const MAX_LENGTH: usize = 2_000;
/// Most bytes that a compiled expression may take.
const MAX_COMPILED: usize = 256 * 1024;
/// Deepest nesting of groups.
const MAX_NESTING: u32 = 50;
/// Most bytes that all expressions of a flow may take, compiled.
pub(crate) const MAX_COMPILED_ALL: usize = 4 * 1024 * 1024;
/// Most different expressions of a flow.
pub(crate) const MAX_PATTERNS: usize = 1_000;
/// A class such as `\w` or `\p{L}` is spelled out before anything is compiled, so each counts that many bytes more.
const CLASS: usize = 1024;

/// Why there is no expression.
#[derive(Debug, Clone)]
pub(crate) enum PatternError {
    /// It cannot be read, or is too large by itself; the reason, for authors.
    Bad(Text),
    /// The expressions of the flow before it are too many or too large.
    Beyond,
}

/// The expressions of a flow.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    known: HashMap<(Part, Box<str>), Result<NFA, PatternError>>,
    compiled: usize,
}

/// The part of a text that an expression must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Any,
    Whole,
}

impl Patterns {
    /// Compiles `pattern`, to be found anywhere in a text.
    pub(crate) fn check_search(&mut self, pattern: &str) -> Result<(), PatternError> {
        self.check(Part::Any, pattern)
    }

    /// Compiles `pattern`, to match all of a text.
    pub(crate) fn check_whole(&mut self, pattern: &str) -> Result<(), PatternError> {
        self.check(Part::Whole, pattern)
    }

    /// Returns a pattern that [`Patterns::check_search`] was asked for.
    pub(crate) fn search(&self, pattern: &str) -> Pattern {
        self.get(Part::Any, pattern)
    }

    /// Returns a pattern that [`Patterns::check_whole`] was asked for.
    pub(crate) fn whole(&self, pattern: &str) -> Pattern {
        self.get(Part::Whole, pattern)
    }

    /// Returns how many bytes the compiled expressions take.
    pub(crate) fn compiled(&self) -> usize {
        self.compiled
    }

    fn get(&self, part: Part, pattern: &str) -> Pattern {
        let known = self.known.get(&(part, pattern.into()));
        Pattern { nfa: known.and_then(|known| known.as_ref().ok()).cloned() }
    }

    fn check(&mut self, part: Part, pattern: &str) -> Result<(), PatternError> {
        if let Some(known) = self.known.get(&(part, pattern.into())) {
            return known.as_ref().map(|_| ()).map_err(Clone::clone);
        }
        // Nothing is kept or compiled beyond the limits, whatever a definition holds.
        if self.known.len() >= MAX_PATTERNS || self.compiled >= MAX_COMPILED_ALL {
            self.compiled = MAX_COMPILED_ALL;
            return Err(PatternError::Beyond);
        }
        let built = build(part, pattern);
        // One that failed took as long as the largest that did not.
        let size = built.as_ref().map_or(MAX_COMPILED, NFA::memory_usage);
        self.compiled += size + classes(pattern) * CLASS;
        let built = built.and_then(|nfa| match self.compiled <= MAX_COMPILED_ALL {
            true => Ok(nfa),
            false => Err(PatternError::Beyond),
        });
        let result = built.as_ref().map(|_| ()).map_err(Clone::clone);
        self.known.insert((part, pattern.into()), built);
        result
    }
}

fn build(part: Part, pattern: &str) -> Result<NFA, PatternError> {
    if pattern.len() > MAX_LENGTH {
        return Err(bad(&format!("{MAX_LENGTH} bytes"), &format!("longer than {MAX_LENGTH} bytes")));
    }
    let syntax = syntax::Config::new().nest_limit(MAX_NESTING);
    let parse =
        |pattern: &str| syntax::parse_with(pattern, &syntax).map_err(|error| invalid(&error.to_string()));
    let mut parsed = parse(pattern)?;
    if part == Part::Whole {
        // By itself first: a stray parenthesis must not escape the group.
        parsed = parse(&format!(r"\A(?:{pattern})\z"))?;
    }
    let config =
        Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(MAX_COMPILED)).shrink(false);
    let built = Compiler::new().configure(config).build_from_hir(&parsed);
    built.map_err(|error| match error.size_limit() {
        Some(limit) => bad(
            &format!("{limit} bytes depois de compilada"),
            &format!("compiles to more than {limit} bytes"),
        ),
        None => invalid(&error.to_string()),
    })
}

/// Returns the message of the parser in its words: they show the place.
fn invalid(error: &str) -> PatternError {
    PatternError::Bad(Text::of(format!("expressão regular inválida: {error}"), error.to_owned()))
}

fn bad(most: &str, english: &str) -> PatternError {
    PatternError::Bad(Text::of(format!("mais de {most}"), english.to_owned()))
}

/// Returns how many classes of Unicode `pattern` may name.
fn classes(pattern: &str) -> usize {
    pattern.as_bytes().windows(2).filter(|pair| pair[0] == b'\\' && b"pPwWsSdD".contains(&pair[1])).count()
}
