//! What differs between two definitions, as authors see it: blocks, and fields of them.

use serde::Serialize;
use serde_json::Value;

use super::FlowDefinition;
use crate::id::BlockId;

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Difference {
    /// A block is new.
    Added {
        /// The block.
        block_id: BlockId,
    },
    /// A block is gone.
    Removed {
        /// The block.
        block_id: BlockId,
    },
    /// A block stands in another place of the list; this changes nothing that runs.
    Moved {
        /// The block.
        block_id: BlockId,
    },
    /// A value is another one.
    Changed {
        /// The block; `None` for the definition itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        block_id: Option<BlockId>,
        /// JSON pointer below the block, or into the definition.
        pointer: String,
        /// What it was; null where it was not there.
        from: Value,
        /// What it is; null where it is not there any more.
        to: Value,
    },
}

/// The differences from `old` to `new`: first those of the definition itself, then block by block in the order of
/// `new`, then blocks that are gone. Equal definitions have none.
pub fn diff(old: &FlowDefinition, new: &FlowDefinition) -> Vec<Difference> {
    let mut found = Vec::new();
    let head = |definition: &FlowDefinition| {
        let mut json = serde_json::to_value(definition).unwrap_or_default();
        if let Some(fields) = json.as_object_mut() {
            fields.remove("blocks");
        }
        json
    };
    compare(None, "", &head(old), &head(new), &mut found);
    let place = |definition: &FlowDefinition| -> std::collections::HashMap<BlockId, usize> {
        definition.blocks.iter().enumerate().map(|(at, block)| (block.id.clone(), at)).collect()
    };
    let (before, after) = (place(old), place(new));
    let kept = |definition: &FlowDefinition,
                others: &std::collections::HashMap<BlockId, usize>|
     -> Vec<BlockId> {
        definition.blocks.iter().map(|block| block.id.clone()).filter(|id| others.contains_key(id)).collect()
    };
    let in_order = kept(old, &after);
    for (at, id) in kept(new, &before).into_iter().enumerate() {
        if in_order.get(at) != Some(&id) {
            found.push(Difference::Moved { block_id: id });
        }
    }
    for block in &new.blocks {
        match before.get(&block.id) {
            None => found.push(Difference::Added { block_id: block.id.clone() }),
            Some(at) => {
                let json = |block| serde_json::to_value(block).unwrap_or_default();
                compare(Some(&block.id), "", &json(&old.blocks[*at]), &json(block), &mut found);
            }
        }
    }
    for block in old.blocks.iter().filter(|block| !after.contains_key(&block.id)) {
        found.push(Difference::Removed { block_id: block.id.clone() });
    }
    found
}

/// Objects field by field, lists of one length item by item, everything else as a whole.
fn compare(block: Option<&BlockId>, pointer: &str, old: &Value, new: &Value, found: &mut Vec<Difference>) {
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                let at =
                    |fields: &serde_json::Map<String, Value>| fields.get(key).cloned().unwrap_or_default();
                compare(block, &format!("{pointer}/{escaped}"), &at(before), &at(after), found);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (at, (before, after)) in before.iter().zip(after).enumerate() {
                compare(block, &format!("{pointer}/{at}"), before, after, found);
            }
        }
        (old, new) if old == new => {}
        (old, new) => found.push(Difference::Changed {
            block_id: block.cloned(),
            pointer: pointer.to_owned(),
            from: old.clone(),
            to: new.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(json: &Value) -> FlowDefinition {
        FlowDefinition::parse(json).expect("parses")
    }

    #[test]
    fn every_change_is_named_once() {
        let block = |id: &str, text: &str| json!({ "id": id, "type": "content", "contents": [{ "type": "text", "text": { "body": text } }], "defaultOutput": { "end": true } });
        let old = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [block("a", "x"), block("b", "y"), block("c", "z")] });
        assert_eq!(diff(&parse(&old), &parse(&old)), []);
        let mut new = old.clone();
        new["settings"] = json!({ "maxStepsPerTurn": 7 });
        new["blocks"] = json!([block("c", "z"), block("a", "X"), block("d", "w")]);
        new["blocks"][1]["title"] = json!("A");
        let found = serde_json::to_value(diff(&parse(&old), &parse(&new))).expect("serialises");
        assert_eq!(
            found,
            json!([
                { "change": "changed", "pointer": "/settings/maxStepsPerTurn", "from": 100, "to": 7 },
                { "change": "moved", "blockId": "c" }, { "change": "moved", "blockId": "a" },
                { "change": "changed", "blockId": "a", "pointer": "/contents/0/text/body", "from": "x", "to": "X" },
                { "change": "changed", "blockId": "a", "pointer": "/title", "from": null, "to": "A" },
                { "change": "added", "blockId": "d" }, { "change": "removed", "blockId": "b" }
            ])
        );
    }
}
