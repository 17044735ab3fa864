//! Validation before publish: every problem, with its block and JSON pointer.

mod actions;
mod contents;
mod graph;
mod names;
mod parts;
mod tool;

use std::collections::HashSet;

use super::{FlowDefinition, FlowKind, Problem, SCHEMA_VERSION, Severity};
use crate::flow::compiled::pattern::Patterns;
use crate::id::BlockId;
use crate::text::Text;

/// Most blocks a turn may enter, whatever a flow asks for.
const MAX_STEPS: u32 = 10_000;
/// Longest wait for input: 30 days.
const MAX_TIMEOUT_MS: u64 = 30 * 24 * 60 * 60 * 1000;

impl FlowDefinition {
    /// Everything that is wrong with it, in the order of the definition. A flow with an error
    /// cannot be published.
    pub fn validate(&self) -> Vec<Problem> {
        self.validated().0
    }

    /// As [`FlowDefinition::validate`], with the expressions that were compiled on the way.
    pub(in crate::flow) fn validated(&self) -> (Vec<Problem>, Patterns) {
        let mut findings = Findings {
            handles_errors: self.handles_errors(),
            names_contacts: names::names_contacts(self),
            ..Findings::default()
        };
        self.validate_head(&mut findings);
        let known = names::known(self);
        let mut ids = HashSet::new();
        for (index, block) in self.blocks.iter().enumerate() {
            let pointer = format!("/blocks/{index}");
            findings.block = Some(block.id.clone());
            if !ids.insert(&block.id) {
                let message = Text::of(
                    format!("outro bloco também tem o id `{}`", block.id),
                    format!("another block has the id `{}` too", block.id),
                );
                findings.error("duplicate_block", format!("{pointer}/id"), message);
            }
            parts::block(block, &pointer, &known, &mut findings);
        }
        findings.block = None;
        graph::check(self, &mut findings);
        tool::check(self, &mut findings);
        (findings.problems, findings.patterns)
    }

    /// Returns whether a failed action leads on without the action saying so. The failure of a tool goes to its caller.
    fn handles_errors(&self) -> bool {
        self.settings.error_target.is_some() || self.kind == FlowKind::Tool
    }

    fn validate_head(&self, findings: &mut Findings) {
        if self.schema_version != SCHEMA_VERSION {
            let message = Text::of(
                format!("esta versão lê schemaVersion {SCHEMA_VERSION}"),
                format!("this version reads schemaVersion {SCHEMA_VERSION}"),
            );
            findings.error("schema_version", "/schemaVersion", message);
        }
        if self.blocks.is_empty() {
            let message = Text::new("um flow tem ao menos um bloco", "a flow has at least one block");
            findings.error("no_blocks", "/blocks", message);
        }
        let settings = &self.settings;
        if !(1..=MAX_STEPS).contains(&settings.max_steps_per_turn) {
            let message = between(1, u64::from(MAX_STEPS));
            findings.error("out_of_range", "/settings/maxStepsPerTurn", message);
        }
        timeout(settings.input_timeout_ms, "/settings/inputTimeoutMs", findings);
    }
}

/// A wait that ends at once would end every session; one of months keeps dead sessions alive.
fn timeout(millis: u64, pointer: &str, findings: &mut Findings) {
    if !(1..=MAX_TIMEOUT_MS).contains(&millis) {
        findings.error("out_of_range", pointer, millis_between(1, MAX_TIMEOUT_MS));
    }
}

/// Returns the limits of a number.
fn between(least: u64, most: u64) -> Text {
    Text::of(format!("de {least} a {most}"), format!("from {least} to {most}"))
}

/// Returns the limits of a time.
fn millis_between(least: u64, most: u64) -> Text {
    Text::of(format!("de {least} a {most} milissegundos"), format!("from {least} to {most} milliseconds"))
}

/// The problems found so far and the block that is looked at.
#[derive(Default)]
struct Findings {
    block: Option<BlockId>,
    problems: Vec<Problem>,
    /// The regular expressions so far.
    patterns: Patterns,
    /// Whether a failed action leads on without the action saying so.
    handles_errors: bool,
    /// Whether the flow gives contacts a name.
    names_contacts: bool,
    /// Whether it was told that they are too large together.
    beyond: bool,
}

impl Findings {
    fn error(&mut self, code: &'static str, pointer: impl Into<String>, message: Text) {
        self.add(Severity::Error, code, pointer.into(), message);
    }

    fn warn(&mut self, code: &'static str, pointer: impl Into<String>, message: Text) {
        self.add(Severity::Warning, code, pointer.into(), message);
    }

    fn add(&mut self, severity: Severity, code: &'static str, pointer: String, message: Text) {
        self.problems.push(Problem { severity, code, block_id: self.block.clone(), pointer, message });
    }
}

#[cfg(test)]
mod tests;
