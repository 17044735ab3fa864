//! The places of a definition that read static variables: those of its router, and its own.

use serde_json::Value;

use super::{Block, FlowDefinition, field_pointer};
use crate::flow::interpolate::{Template, Token};

/// A token that reads a static variable, and its place.
pub(crate) struct StaticRead<'d> {
    /// [`Token::Router`] or [`Token::Flow`].
    pub(crate) token: Token,
    /// The block that it is in.
    pub(crate) block: &'d Block,
    /// JSON pointer to the text that has the token.
    pub(crate) pointer: String,
}

impl FlowDefinition {
    /// Returns every place that reads a static variable, in the order of the blocks.
    pub(crate) fn static_reads(&self) -> Vec<StaticRead<'_>> {
        let mut found = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if let Ok(block_json) = serde_json::to_value(block) {
                visit(&block_json, &format!("/blocks/{at}"), block, &mut found);
            }
        }
        found
    }
}

fn visit<'d>(value: &Value, pointer: &str, block: &'d Block, found: &mut Vec<StaticRead<'d>>) {
    match value {
        Value::String(text) => {
            let template = Template::parse(text);
            let reads = template.tokens().filter(|token| matches!(token, Token::Router(_) | Token::Flow(_)));
            let at = |token: &Token| StaticRead { token: token.clone(), block, pointer: pointer.to_owned() };
            found.extend(reads.map(at));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                visit(item, &format!("{pointer}/{at}"), block, found);
            }
        }
        Value::Object(fields) => {
            // A script is not interpolated.
            for (name, field) in fields.iter().filter(|(name, _)| *name != "script") {
                visit(field, &field_pointer(pointer, name), block, found);
            }
        }
        _ => {}
    }
}
