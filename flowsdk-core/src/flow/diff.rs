//! The differences of two definitions: blocks by their ids, elements of lists by their ids or their content, everything
//! else by JSON pointer.

mod list;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::definition::push_field;
use list::{Aligned, align};

/// Most changes that are listed; a definition with more is another flow.
const MOST: usize = 1_000;

/// The way in which a value or block changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// Only the later definition has it.
    Added,
    /// Only the earlier definition has it.
    Removed,
    /// Both definitions have it, with different values.
    Changed,
}

/// A value that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ValueDiff {
    pub kind: DiffKind,
    /// JSON pointer to it: below its block, or below the definition. Indices are those of the later definition, or of the
    /// earlier one for what is removed.
    pub pointer: String,
    /// The value before; absent when it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The value after; absent when it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// A block that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct BlockDiff {
    pub block_id: String,
    pub kind: DiffKind,
    /// The changes of the block; empty when it is new or gone.
    pub changes: Vec<ValueDiff>,
}

/// The difference of two definitions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowDiff {
    /// Blocks, in the order of their ids.
    pub blocks: Vec<BlockDiff>,
    /// The changes outside of blocks.
    pub definition: Vec<ValueDiff>,
    /// Whether there was more than can be listed.
    pub truncated: bool,
}

/// Returns the changes from `before` to `after`. The order of blocks does not count.
pub fn diff(before: &Value, after: &Value) -> FlowDiff {
    let mut budget = Budget { left: MOST, truncated: false };
    let (from, to) = (blocks(before), blocks(after));
    let mut found = FlowDiff::default();
    let ids: std::collections::BTreeSet<&str> = from.keys().chain(to.keys()).copied().collect();
    for id in ids {
        let mut changes = Vec::new();
        let kind = match (from.get(id), to.get(id)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some(old), Some(new)) => {
                compare(old, new, &mut String::new(), &mut changes, &mut budget);
                DiffKind::Changed
            }
            (None, _) => DiffKind::Added,
            (_, None) => DiffKind::Removed,
        };
        if !budget.spend() {
            break;
        }
        found.blocks.push(BlockDiff { block_id: id.to_owned(), kind, changes });
    }
    compare(&rest(before), &rest(after), &mut String::new(), &mut found.definition, &mut budget);
    found.truncated = budget.truncated;
    found
}

struct Budget {
    left: usize,
    truncated: bool,
}

impl Budget {
    fn spend(&mut self) -> bool {
        self.truncated |= self.left == 0;
        let left = self.left > 0;
        self.left = self.left.saturating_sub(1);
        left
    }
}

/// Returns the blocks by their ids. A block without one is found by its place.
fn blocks(definition: &Value) -> BTreeMap<&str, &Value> {
    let list = definition["blocks"].as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(|block| (block["id"].as_str().unwrap_or_default(), block)).collect()
}

fn rest(definition: &Value) -> Value {
    let mut rest = definition.clone();
    if let Some(fields) = rest.as_object_mut() {
        fields.remove("blocks");
    }
    rest
}

fn compare(before: &Value, after: &Value, at: &mut String, found: &mut Vec<ValueDiff>, budget: &mut Budget) {
    let depth = at.len();
    match (before, after) {
        _ if before == after => {}
        (Value::Object(from), Value::Object(to)) => {
            let names: std::collections::BTreeSet<&String> = from.keys().chain(to.keys()).collect();
            for name in names {
                push_field(at, name);
                one(from.get(name), to.get(name), at, found, budget);
                at.truncate(depth);
            }
        }
        (Value::Array(from), Value::Array(to)) => {
            for aligned in align(from, to) {
                let (index, before, after) = match aligned {
                    Aligned::Removed(index) => (index, from.get(index), None),
                    Aligned::Added(index) => (index, None, to.get(index)),
                    Aligned::Both(earlier, later) => (later, from.get(earlier), to.get(later)),
                };
                at.push('/');
                at.push_str(&index.to_string());
                one(before, after, at, found, budget);
                at.truncate(depth);
            }
        }
        _ => one_changed(before, after, at, found, budget),
    }
}

fn one(
    before: Option<&Value>,
    after: Option<&Value>,
    at: &mut String,
    found: &mut Vec<ValueDiff>,
    budget: &mut Budget,
) {
    let kind = match (before, after) {
        (Some(before), Some(after)) => return compare(before, after, at, found, budget),
        (None, None) => return,
        (None, Some(_)) => DiffKind::Added,
        (Some(_), None) => DiffKind::Removed,
    };
    if budget.spend() {
        found.push(ValueDiff { kind, pointer: at.clone(), from: before.cloned(), to: after.cloned() });
    }
}

fn one_changed(before: &Value, after: &Value, at: &str, found: &mut Vec<ValueDiff>, budget: &mut Budget) {
    if budget.spend() {
        let (from, to) = (Some(before.clone()), Some(after.clone()));
        found.push(ValueDiff { kind: DiffKind::Changed, pointer: at.to_owned(), from, to });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_compared_by_id_whatever_their_order() {
        let before = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "title": "A", "contents": [{ "text": { "body": "x" } }, 2] },
            { "id": "b" }, { "id": "c", "title": "C" } ] });
        let after = json!({ "schemaVersion": 1, "startBlockId": "d", "settings": { "a/b~": 1 }, "blocks": [
            { "id": "d" }, { "id": "b" },
            { "id": "a", "contents": [{ "text": { "body": "y" } }] , "new": null } , { "id": "c", "title": "C" } ] });
        let found = serde_json::to_value(diff(&before, &after)).expect("json");
        assert_eq!(
            found,
            json!({ "blocks": [
                { "blockId": "a", "kind": "changed", "changes": [
                    { "kind": "changed", "pointer": "/contents/0/text/body", "from": "x", "to": "y" },
                    { "kind": "removed", "pointer": "/contents/1", "from": 2 },
                    { "kind": "added", "pointer": "/new", "to": null },
                    { "kind": "removed", "pointer": "/title", "from": "A" } ] },
                { "blockId": "d", "kind": "added", "changes": [] } ],
              "definition": [
                { "kind": "added", "pointer": "/settings", "to": { "a/b~": 1 } },
                { "kind": "changed", "pointer": "/startBlockId", "from": "a", "to": "d" } ],
              "truncated": false })
        );
        assert_eq!(diff(&before, &before), FlowDiff::default());
        let gone = diff(&after, &json!({ "blocks": [] }));
        assert_eq!(gone.blocks.len(), 4);
        assert!(gone.blocks.iter().all(|block| block.kind == DiffKind::Removed));
    }

    #[test]
    fn a_message_in_front_is_one_change() {
        let text = |body: &str| json!({ "type": "text", "text": { "body": body } });
        let of = |contents: Value| json!({ "blocks": [{ "id": "a", "contents": contents }] });
        let changes = |before: Value, after: Value| {
            let found = diff(&of(before), &of(after)).blocks;
            let changes = found.into_iter().flat_map(|block| block.changes);
            changes.map(|change| format!("{:?} {}", change.kind, change.pointer)).collect::<Vec<_>>()
        };
        let (a, b, c) = (text("a"), text("b"), text("c"));
        assert_eq!(changes(json!([a, b]), json!([c, a, b])), ["Added /contents/0"]);
        assert_eq!(changes(json!([c, a, b]), json!([a, b])), ["Removed /contents/0"]);
        assert_eq!(changes(json!([a, b]), json!([a, c])), ["Changed /contents/1/text/body"]);
    }

    #[test]
    fn anything_can_be_compared_and_the_list_is_bounded() {
        for odd in [json!(null), json!([1]), json!("x"), json!({ "blocks": 7 }), json!({ "blocks": [1, {}] })]
        {
            let _compared = diff(&odd, &json!({}));
            let _compared = diff(&json!({ "blocks": [{ "id": "a" }] }), &odd);
        }
        let many = |text: &str| {
            let blocks: Vec<_> = (0..5_000).map(|n| json!({ "id": format!("b{n}"), "t": text })).collect();
            json!({ "blocks": blocks })
        };
        let found = diff(&many("a"), &many("b"));
        assert!(found.truncated && found.blocks.len() <= MOST);
    }
}
