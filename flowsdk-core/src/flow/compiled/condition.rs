//! Conditions with their texts parsed.

use super::pattern::{Pattern, Patterns};
use crate::flow::definition::{Comparator, Condition, ConditionSource, SystemKey};
use crate::flow::engine::compare::fold;
use crate::flow::interpolate::{Path, Template};

/// A condition with its patterns compiled.
#[derive(Debug)]
pub(crate) struct CompiledCondition {
    pub(crate) source: Source,
    pub(crate) comparator: Comparator,
    pub(crate) values: Vec<Operand>,
}

/// The value that a condition tests.
#[derive(Debug)]
pub(crate) enum Source {
    Input,
    Context(Path),
    Contact(Path),
    Static(Template),
    System(SystemKey),
}

/// One of a condition's values.
#[derive(Debug)]
pub(crate) enum Operand {
    /// A text without tokens, and its folded form.
    Literal { text: String, folded: String },
    /// A text with tokens.
    Template(Template),
    /// The expression of `matches`.
    Pattern(Pattern),
}

impl CompiledCondition {
    pub(crate) fn new(condition: &Condition, patterns: &Patterns) -> Self {
        let values = condition.values.iter().map(|value| operand(condition.comparator, &value.0, patterns));
        Self {
            source: Source::new(&condition.source),
            comparator: condition.comparator,
            values: values.collect(),
        }
    }

    /// Returns every template in it.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        let source = match &self.source {
            Source::Static(template) => Some(template),
            _ => None,
        };
        source.into_iter().chain(self.values.iter().filter_map(|value| match value {
            Operand::Template(template) => Some(template),
            _ => None,
        }))
    }
}

impl Source {
    fn new(source: &ConditionSource) -> Self {
        match source {
            ConditionSource::Input {} => Self::Input,
            ConditionSource::Context { key } => Self::Context(Path::parse(key.trim())),
            ConditionSource::Contact { key } => Self::Contact(Path::parse(key.trim())),
            ConditionSource::Static { value } => Self::Static(Template::parse(value)),
            ConditionSource::System { key } => Self::System(*key),
        }
    }
}

fn operand(comparator: Comparator, text: &str, patterns: &Patterns) -> Operand {
    if comparator == Comparator::Matches {
        return Operand::Pattern(patterns.search(text));
    }
    let template = Template::parse(text);
    match template.as_literal() {
        Some(text) => Operand::Literal { text: text.to_owned(), folded: fold(text).into_owned() },
        None => Operand::Template(template),
    }
}
