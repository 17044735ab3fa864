//! Inputs with their rules compiled.

use std::time::Duration;

use super::CompiledTarget;
use super::pattern::{Pattern, Patterns};
use crate::flow::definition::ValidationKind;
use crate::flow::engine::compare::fold;
use crate::flow::interpolate::Template;

/// The input of a block.
#[derive(Debug)]
pub(crate) struct CompiledInput {
    pub(crate) variable: Option<Variable>,
    /// The block's own time, or the flow's.
    pub(crate) timeout: Duration,
    pub(crate) timeout_target: Option<CompiledTarget>,
    pub(crate) validation: Option<CompiledValidation>,
}

/// The names under which an answer is stored.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) media: String,
}

impl Variable {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), title: format!("{name}_title"), media: format!("{name}_media") }
    }
}

/// The rule for a valid answer, and the reaction to an invalid one.
#[derive(Debug)]
pub(crate) struct CompiledValidation {
    pub(crate) rule: Rule,
    pub(crate) retry_text: Option<Template>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) fail_target: Option<CompiledTarget>,
}

/// The rule for a valid answer, ready to be applied.
#[derive(Debug)]
pub(crate) enum Rule {
    Text {
        min: usize,
        max: usize,
    },
    Number {
        min: f64,
        max: f64,
        integer: bool,
    },
    Email,
    Date,
    Phone,
    /// The options as listed, each with its folded form.
    Options(Vec<(String, String)>),
    Regex(Pattern),
}

impl Rule {
    pub(super) fn new(kind: &ValidationKind, patterns: &Patterns) -> Self {
        match kind {
            ValidationKind::Text { min_length, max_length } => {
                Self::Text { min: min_length.unwrap_or(0), max: max_length.unwrap_or(usize::MAX) }
            }
            ValidationKind::Number { min, max, integer } => Self::Number {
                min: min.unwrap_or(f64::NEG_INFINITY),
                max: max.unwrap_or(f64::INFINITY),
                integer: *integer,
            },
            ValidationKind::Email {} => Self::Email,
            ValidationKind::Date {} => Self::Date,
            ValidationKind::Phone {} => Self::Phone,
            ValidationKind::Options { options } => Self::Options(
                options.iter().map(|option| (option.clone(), fold(option).into_owned())).collect(),
            ),
            ValidationKind::Regex { pattern } => Self::Regex(patterns.whole(pattern)),
        }
    }
}
