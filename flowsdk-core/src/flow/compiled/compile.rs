//! From a valid definition to a [`CompiledFlow`].

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::input::Variable;
use super::pattern::Patterns;
use super::{
    CompiledAction, CompiledActionKind, CompiledBlock, CompiledBlockKind, CompiledCondition, CompiledContent,
    CompiledFlow, CompiledInput, CompiledOutput, CompiledTarget, CompiledValidation, Rule,
};
use crate::flow::definition::{self, Action, Block, BlockKind, Condition, Input, Target, Validation};
use crate::flow::interpolate::Template;
use crate::flow::{FlowDefinition, FlowVersion, Problem, words};
use crate::id::BlockId;

/// Compiles `definition`, which has no errors and whose expressions are `patterns`. The errors here are those that
/// validation would have found; they are returned and not assumed away.
pub(super) fn flow(
    version: &FlowVersion,
    definition: &FlowDefinition,
    patterns: &Patterns,
) -> Result<CompiledFlow, Problem> {
    let index: HashMap<BlockId, usize> =
        definition.blocks.iter().enumerate().map(|(at, block)| (block.id.clone(), at)).collect();
    let input_timeout = Duration::from_millis(definition.settings.input_timeout_ms);
    let cx = Cx { index: &index, input_timeout, patterns };
    let blocks = definition
        .blocks
        .iter()
        .map(|block| cx.block(block).map_err(|problem| problem.in_block(&block.id)))
        .collect::<Result<Vec<_>, _>>()?;
    let error_target = cx.optional(definition.settings.error_target.as_ref())?;
    Ok(CompiledFlow {
        flow_id: version.flow_id.clone(),
        version_id: version.id.clone(),
        router_id: version.router_id.clone(),
        name: version.flow_name.clone(),
        number: version.number,
        uses_static_variables: error_target.as_ref().is_some_and(|target| target.other_flow().is_some())
            || blocks.iter().any(uses_static_variables),
        kind: definition.kind,
        parameters: definition.parameters.clone(),
        returns: definition.returns.clone(),
        traced: definition.settings.trace,
        input_timeout,
        max_steps: definition.settings.max_steps_per_turn,
        size: footprint(&version.definition) + patterns.compiled(),
        error_target,
        start: cx.find(&definition.start_block_id)?,
        blocks,
        index,
    })
}

struct Cx<'a> {
    index: &'a HashMap<BlockId, usize>,
    input_timeout: Duration,
    patterns: &'a Patterns,
}

impl Cx<'_> {
    fn block(&self, block: &Block) -> Result<CompiledBlock, Problem> {
        let outputs = block.output_conditions.iter().map(|output| {
            Ok(CompiledOutput {
                when: words::output(output),
                conditions: self.conditions(&output.conditions),
                target: self.target(&output.target)?,
            })
        });
        Ok(CompiledBlock {
            id: block.id.clone(),
            title: block.title.clone(),
            on_enter: self.actions(&block.on_enter),
            kind: self.kind(&block.kind)?,
            on_leave: self.actions(&block.on_leave),
            outputs: outputs.collect::<Result<_, Problem>>()?,
            default_output: self.target(&block.default_output)?,
        })
    }

    fn kind(&self, kind: &BlockKind) -> Result<CompiledBlockKind, Problem> {
        Ok(match kind {
            BlockKind::Content { contents, input } => CompiledBlockKind::Content {
                contents: contents.iter().map(CompiledContent::new).collect(),
                input: input.as_ref().map(|input| self.input(input)).transpose()?,
            },
            BlockKind::Agent { agent_id, max_messages, input_timeout } => CompiledBlockKind::Agent {
                agent_id: agent_id.clone(),
                max_messages: *max_messages,
                timeout: input_timeout.map_or(self.input_timeout, Duration::from_millis),
            },
            BlockKind::Human { queue_id, user_id } => {
                CompiledBlockKind::Human { queue_id: queue_id.clone(), user_id: user_id.clone() }
            }
            BlockKind::Flow { flow_id, block_id, returns } => CompiledBlockKind::Flow {
                flow_id: flow_id.clone(),
                block_id: block_id.clone(),
                returns: *returns,
            },
        })
    }

    fn input(&self, input: &Input) -> Result<CompiledInput, Problem> {
        Ok(CompiledInput {
            variable: input.variable.as_deref().map(Variable::new),
            timeout: input.timeout_ms.map_or(self.input_timeout, Duration::from_millis),
            timeout_target: self.optional(input.timeout_target.as_ref())?,
            validation: input.validation.as_ref().map(|v| self.validation(v)).transpose()?,
        })
    }

    fn validation(&self, validation: &Validation) -> Result<CompiledValidation, Problem> {
        Ok(CompiledValidation {
            rule: Rule::new(&validation.kind, self.patterns),
            retry_text: validation.retry_text.as_deref().map(Template::parse),
            max_retries: validation.max_retries,
            fail_target: self.optional(validation.fail_target.as_ref())?,
        })
    }

    fn optional(&self, target: Option<&Target>) -> Result<Option<CompiledTarget>, Problem> {
        target.map(|target| self.target(target)).transpose()
    }

    fn target(&self, target: &Target) -> Result<CompiledTarget, Problem> {
        Ok(match target {
            Target::Block(block) => CompiledTarget::Block(self.find(block)?),
            Target::Flow { flow_id, block_id } => {
                CompiledTarget::Flow { flow_id: flow_id.clone(), block_id: block_id.clone() }
            }
            Target::End => CompiledTarget::End,
        })
    }

    fn find(&self, block: &BlockId) -> Result<usize, Problem> {
        self.index
            .get(block)
            .copied()
            .ok_or_else(|| Problem::error("target_not_found", "", definition::no_block(block)))
    }
    fn conditions(&self, conditions: &[Condition]) -> Vec<CompiledCondition> {
        conditions.iter().map(|condition| CompiledCondition::new(condition, self.patterns)).collect()
    }

    fn actions(&self, actions: &[Action]) -> Vec<CompiledAction> {
        let compiled = actions.iter().map(|action| CompiledAction {
            kind: CompiledActionKind::new(&action.kind),
            conditions: self.conditions(&action.conditions),
            continue_on_error: action.continue_on_error,
        });
        compiled.collect()
    }
}

/// About how many bytes the compiled form of `json` takes: a node is an enum, a text is in its own allocation.
fn footprint(json: &Value) -> usize {
    const NODE: usize = 64;
    NODE + match json {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(footprint).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + footprint(value)).sum(),
    }
}

/// Returns whether a turn that enters `block` may need them: another flow that it leads to may.
fn uses_static_variables(block: &CompiledBlock) -> bool {
    block.other_flows().next().is_some() || block.templates().into_iter().any(Template::uses_static_variables)
}
