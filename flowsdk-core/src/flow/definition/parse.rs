//! Parsing that says where it failed.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use super::action::ACTION_TYPES;
use super::block::BLOCK_TYPES;
use super::malformed::malformed;
use super::place::narrowed;
use super::{
    Action, Block, FlowDefinition, Input, OutputCondition, Problem, SCHEMA_VERSION, Settings, Target,
    field_pointer,
};
use crate::id::BlockId;
use crate::message::ContentMessage;
use crate::text::Text;

/// Most problems of a definition whose places are looked for by trial: it takes time.
const MOST_NARROWED: usize = 20;

impl FlowDefinition {
    /// Reads a definition.
    ///
    /// # Errors
    /// Every part that cannot be read, each with its block and JSON pointer.
    pub fn parse(json: &Value) -> Result<Self, Vec<Problem>> {
        // Before the rest, so that a definition of a later version is not reported field by field.
        match json.get("schemaVersion").map(Value::as_u64) {
            Some(Some(version)) if version != u64::from(SCHEMA_VERSION) => {
                let message = Text::of(
                    format!("schemaVersion {version} não é suportada; esta versão lê {SCHEMA_VERSION}"),
                    format!("schemaVersion {version} is not supported; this version reads {SCHEMA_VERSION}"),
                );
                return Err(vec![Problem::error("schema_version", "/schemaVersion", message)]);
            }
            _ => {}
        }
        Self::deserialize(json).map_err(|_| locate(json))
    }
}

/// Returns the parts of `json` that cannot be read; all of it when every known part can.
fn locate(json: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    if let Some(settings) = json.get("settings") {
        check::<Settings>(settings, "/settings", &mut found);
    }
    if let Some(blocks) = json.get("blocks").and_then(Value::as_array) {
        for (index, block) in blocks.iter().enumerate() {
            locate_in_block(block, &format!("/blocks/{index}"), &mut found);
        }
    }
    if found.is_empty() {
        check::<FlowDefinition>(json, "", &mut found);
    }
    found
}

fn locate_in_block(block: &Value, pointer: &str, found: &mut Vec<Problem>) {
    let start = found.len();
    match block.get("type").and_then(Value::as_str) {
        Some(kind) if !BLOCK_TYPES.contains(&kind) => {
            let message = Text::of(
                format!("o tipo de bloco `{kind}` não é suportado; há {}", listed(&BLOCK_TYPES)),
                format!("block type `{kind}` is not supported; there are {}", listed(&BLOCK_TYPES)),
            );
            found.push(Problem::error("unsupported_block_type", format!("{pointer}/type"), message));
        }
        _ => {
            if let Some(fields) = block.as_object().filter(|_| Block::deserialize(block).is_err()) {
                locate_in_fields(fields, pointer, found);
            }
            if found.len() == start {
                check::<Block>(block, pointer, found);
            }
        }
    }
    let id = block.get("id").and_then(Value::as_str);
    if let Some(id) = id.and_then(|id| BlockId::parse(id).ok()) {
        for problem in &mut found[start..] {
            problem.block_id = Some(id.clone());
        }
    }
}

fn locate_in_fields(fields: &Map<String, Value>, pointer: &str, found: &mut Vec<Problem>) {
    for list in ["onEnter", "onLeave"] {
        each(fields, list, pointer, found, |action, at, found| {
            match action.get("type").and_then(Value::as_str) {
                Some(kind) if !ACTION_TYPES.contains(&kind) => found.push(Problem::error(
                    "unsupported_action_type",
                    format!("{at}/type"),
                    Text::of(
                        format!("o tipo de ação `{kind}` não é suportado; há {}", listed(&ACTION_TYPES)),
                        format!("action type `{kind}` is not supported; there are {}", listed(&ACTION_TYPES)),
                    ),
                )),
                _ => check::<Action>(action, at, found),
            }
        });
    }
    each(fields, "contents", pointer, found, check::<ContentMessage>);
    each(fields, "outputConditions", pointer, found, check::<OutputCondition>);
    if let Some(input) = fields.get("input") {
        check::<Option<Input>>(input, &format!("{pointer}/input"), found);
    }
    if let Some(target) = fields.get("defaultOutput") {
        check::<Target>(target, &format!("{pointer}/defaultOutput"), found);
    }
}

fn each(
    fields: &Map<String, Value>,
    list: &str,
    pointer: &str,
    found: &mut Vec<Problem>,
    check: impl Fn(&Value, &str, &mut Vec<Problem>),
) {
    match fields.get(list) {
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                check(item, &format!("{pointer}/{list}/{index}"), found);
            }
        }
        Some(other) => self::check::<Vec<IgnoredAny>>(other, &format!("{pointer}/{list}"), found),
        None => {}
    }
}

/// Notes where in `value`, which is at `pointer`, something is not as a `T` has it.
fn check<T: DeserializeOwned>(value: &Value, pointer: &str, found: &mut Vec<Problem>) {
    if let Err(error) = serde_path_to_error::deserialize::<_, T>(value) {
        let known = pointer_of(error.path());
        let place = if found.len() < MOST_NARROWED {
            narrowed::<T>(value, &known, &error.inner().to_string())
        } else {
            known
        };
        found.push(Problem::error("malformed", format!("{pointer}{place}"), malformed(error.inner())));
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns a path as a JSON pointer, as far as it is known.
fn pointer_of(path: &Path) -> String {
    path.iter()
        .map_while(|segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(field_pointer("", key)),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}
