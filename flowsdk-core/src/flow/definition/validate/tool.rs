//! The rules for tools: they run without stops.

use std::collections::HashSet;

use super::{Findings, names};
use crate::flow::definition::{BlockKind, FlowDefinition, FlowKind};
use crate::text::Text;

/// Most parameters, and most variables given back.
const MAX_PARAMETERS: usize = 50;

pub(super) fn check(definition: &FlowDefinition, findings: &mut Findings) {
    if definition.kind == FlowKind::Flow {
        for (field, given) in
            [("parameters", !definition.parameters.is_empty()), ("returns", !definition.returns.is_empty())]
        {
            if given {
                findings.error(
                    "tool_only",
                    format!("/{field}"),
                    Text::new("só uma ferramenta os tem", "only a tool has these"),
                );
            }
        }
        return;
    }
    for (field, count) in [("parameters", definition.parameters.len()), ("returns", definition.returns.len())]
    {
        if count > MAX_PARAMETERS {
            findings.error(
                "out_of_range",
                format!("/{field}"),
                Text::of(format!("no máximo {MAX_PARAMETERS}"), format!("at most {MAX_PARAMETERS}")),
            );
        }
    }
    let mut seen = HashSet::new();
    for (at, parameter) in definition.parameters.iter().enumerate() {
        let pointer = format!("/parameters/{at}/name");
        names::variable(&parameter.name, &pointer, findings);
        if !seen.insert(&parameter.name) {
            findings.error(
                "duplicate_parameter",
                pointer,
                Text::new("outro parâmetro tem este nome", "another parameter has this name"),
            );
        }
    }
    let known = names::known(definition);
    for (at, name) in definition.returns.iter().enumerate() {
        names::variable(name, &format!("/returns/{at}"), findings);
        names::read(name, &format!("/returns/{at}"), &known, findings);
    }
    for (at, block) in definition.blocks.iter().enumerate() {
        findings.block = Some(block.id.clone());
        let stop = match &block.kind {
            BlockKind::Content { input: Some(_), .. } => Some("/input"),
            BlockKind::Agent { .. } | BlockKind::Human { .. } => Some("/type"),
            BlockKind::Content { contents, .. } if !contents.is_empty() => Some("/contents"),
            _ => None,
        };
        if let Some(field) = stop {
            let message = Text::new(
                "uma ferramenta roda sem paradas e nada diz",
                "a tool runs without stops and says nothing",
            );
            findings.error("stop_in_tool", format!("/blocks/{at}{field}"), message);
        }
    }
    findings.block = None;
}
