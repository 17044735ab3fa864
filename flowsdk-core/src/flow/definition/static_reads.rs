//! The places of a definition that read static variables: those of its router, and its own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Block, FlowDefinition};
use crate::flow::interpolate::{Token, ValueTemplate};

/// The fields that may hold any JSON. What is in one has the pointer of the field: with long names in it, a pointer to
/// each text would take many times the memory of the definition.
const ANY_JSON: [&str; 4] = ["body", "headers", "properties", "value"];

/// The static variables that a text reads, or a field of [`ANY_JSON`].
#[derive(Debug)]
pub(crate) struct StaticReads<'d> {
    /// The block that it is in.
    pub(crate) block: &'d Block,
    /// JSON pointer to the text or field.
    pub(crate) pointer: String,
    /// Keys of variables of the router.
    pub(crate) router: BTreeSet<Box<str>>,
    /// Keys of variables of the flow.
    pub(crate) flow: BTreeSet<Box<str>>,
}

impl FlowDefinition {
    /// Returns every place that reads static variables, block by block.
    pub(crate) fn static_reads(&self) -> Vec<StaticReads<'_>> {
        let mut found = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if let Ok(fields) = serde_json::to_value(block) {
                visit(&fields, format!("/blocks/{at}"), block, &mut found);
            }
        }
        found
    }
}

fn visit<'d>(value: &Value, pointer: String, block: &'d Block, found: &mut Vec<StaticReads<'d>>) {
    match value {
        Value::String(_) => found.extend(reads(value, pointer, block)),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                visit(item, format!("{pointer}/{at}"), block, found);
            }
        }
        Value::Object(fields) => {
            // A script is not interpolated.
            for (name, field) in fields.iter().filter(|(name, _)| *name != "script") {
                let pointer = format!("{pointer}/{name}");
                if ANY_JSON.contains(&&**name) {
                    found.extend(reads(field, pointer, block));
                } else {
                    visit(field, pointer, block, found);
                }
            }
        }
        _ => {}
    }
}

/// Returns what the texts in `value` read, if they read anything.
fn reads<'d>(value: &Value, pointer: String, block: &'d Block) -> Option<StaticReads<'d>> {
    let mut reads = StaticReads { block, pointer, router: BTreeSet::new(), flow: BTreeSet::new() };
    for token in ValueTemplate::parse(value).templates().into_iter().flat_map(|template| template.tokens()) {
        match token {
            Token::Router(key) => drop(reads.router.insert(key.clone())),
            Token::Flow(key) => drop(reads.flow.insert(key.clone())),
            _ => {}
        }
    }
    (!reads.router.is_empty() || !reads.flow.is_empty()).then_some(reads)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_named_and_any_json_is_one_place() {
        let long = "k".repeat(500_000);
        let many: Vec<_> = (0..50_000).map(|_| "{{router.a}}").collect();
        let definition = FlowDefinition::parse(&json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content",
              "onEnter": [
                { "type": "httpRequest", "url": "{{router.base}}/x", "headers": { "X-Key": "{{flow.key}}" },
                  "body": { long: many, "b": { "c": "{{flow.b}} {{router.b}}" } } },
                { "type": "executeScript", "script": "'{{router.not}}'" },
              ],
              "contents": [{ "type": "text", "text": { "body": "{{flow.x}} {{name}} {{ flow.x }}" } }],
              "defaultOutput": { "end": true } },
        ] }));
        let definition = definition.expect("parses");
        let found: Vec<_> = definition.static_reads();
        let mut found: Vec<_> = found
            .iter()
            .map(|reads| {
                let keys =
                    |keys: &BTreeSet<Box<str>>| keys.iter().map(|key| &**key).collect::<Vec<_>>().join(",");
                format!("{} {}|{}", reads.pointer, keys(&reads.router), keys(&reads.flow))
            })
            .collect();
        found.sort();
        assert_eq!(
            found,
            [
                "/blocks/0/contents/0/text/body |x",
                "/blocks/0/onEnter/0/body a,b|b",
                "/blocks/0/onEnter/0/headers |key",
                "/blocks/0/onEnter/0/url base|",
            ]
        );
    }
}
