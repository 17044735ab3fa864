//! The part of a value because of which it cannot be read. Serde loses the way into enums that are told apart by a
//! field, so the part is found by trial: without it, the value can be read.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::field_pointer;

/// Most trials for one value; the part found by then is the answer.
const MOST_TRIALS: usize = 200;
/// Most that is read in these trials: values, with those inside of others, and pieces of long texts.
const MOST_READ: usize = 100_000;
/// Bytes of a piece. A fault shows the text that it is about, so that a long one is copied at each trial.
const PIECE: usize = 32;

/// The fields that tell the variants of an enum apart.
const TAGS: [&str; 2] = ["type", "kind"];

/// Returns the JSON pointer in `value` of the part that is not as a `T` has it; of the object in which a field is
/// missing. `from` points to a part that holds the fault, and `fault` is the message of serde.
pub(super) fn narrowed<T: DeserializeOwned>(value: &Value, from: &str, fault: &str) -> String {
    let trials = (MOST_READ / size_of(value)).min(MOST_TRIALS);
    let mut search = Search { value: value.clone(), at: from.to_owned(), trials };
    let field = fault.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(field) = field {
        return search.object_without::<T>(field).unwrap_or(search.at);
    }
    while let Some(next) = search.part_at_fault::<T>(fault) {
        search.at = next;
    }
    search.at
}

/// Counts a value and all inside of it, and the pieces of its texts; its own stack is on the heap, for a definition may be
/// as deep as JSON may.
fn size_of(value: &Value) -> usize {
    let (mut waiting, mut size) = (vec![value], 0);
    while let Some(value) = waiting.pop() {
        size += 1;
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => waiting.extend(fields.values()),
            Value::String(text) => size += text.len() / PIECE,
            _ => {}
        }
    }
    size
}

struct Search {
    value: Value,
    /// The part that holds the fault.
    at: String,
    trials: usize,
}

/// The result of reading the value without one part.
#[derive(PartialEq, Eq)]
enum Without {
    /// It can be read.
    Fine,
    /// Only this part is missing.
    Missing,
    /// The fault is still there, or it is another one.
    Faulty,
}

impl Search {
    /// Returns the object in which `field` is missing: with a null there, the fault is another one.
    fn object_without<T: DeserializeOwned>(&mut self, field: &str) -> Option<String> {
        let mut waiting = vec![self.at.clone()];
        while let Some(at) = waiting.pop() {
            self.at.clone_from(&at);
            if let Some(Value::Object(fields)) = self.value.pointer_mut(&at)
                && !fields.contains_key(field)
            {
                self.trials = self.trials.checked_sub(1)?;
                fields.insert(field.to_owned(), Value::Null);
                let is_it = match T::deserialize(&self.value) {
                    Ok(_) => true,
                    Err(error) => error.to_string().starts_with("invalid type: null"),
                };
                if is_it {
                    return Some(at);
                }
                if let Some(Value::Object(fields)) = self.value.pointer_mut(&at) {
                    fields.remove(field);
                }
            }
            waiting.extend(self.steps().iter().rev().map(|step| self.below(step)));
        }
        None
    }

    /// Returns the only part, one step further, that can be at fault.
    fn part_at_fault<T: DeserializeOwned>(&mut self, fault: &str) -> Option<String> {
        let (mut fine, mut missing) = (Vec::new(), Vec::new());
        for step in self.steps() {
            match self.without::<T>(&step)? {
                Without::Fine => fine.push(step),
                Without::Missing => missing.push(step),
                Without::Faulty => {}
            }
        }
        missing.retain(|step| !matches!(step, Step::Field(name) if TAGS.contains(&&**name)));
        match (&*fine, &*missing) {
            ([only], _) | ([], [only]) => Some(self.below(only)),
            ([], []) => self.unknown_tag(fault),
            // They are wrong together, or one is read before the others and hides their faults.
            _ => None,
        }
    }

    /// Returns the place of the field that tells variants apart, if `fault` is that its variant is unknown.
    fn unknown_tag(&self, fault: &str) -> Option<String> {
        let named = fault.strip_prefix("unknown variant `")?;
        let part = self.value.pointer(&self.at)?;
        let is_named = |tag: &&&str| part[**tag].as_str().is_some_and(|text| named.starts_with(text));
        TAGS.iter().find(is_named).map(|tag| self.below(&Step::Field((*tag).to_owned())))
    }

    fn steps(&self) -> Vec<Step> {
        match self.value.pointer(&self.at) {
            Some(Value::Object(fields)) => fields.keys().cloned().map(Step::Field).collect(),
            Some(Value::Array(items)) => (0..items.len()).map(Step::Item).collect(),
            _ => Vec::new(),
        }
    }

    /// Reads the value without a part; `None` when there have been enough trials.
    fn without<T: DeserializeOwned>(&mut self, step: &Step) -> Option<Without> {
        self.trials = self.trials.checked_sub(1)?;
        let taken = match (self.value.pointer_mut(&self.at)?, step) {
            (Value::Object(fields), Step::Field(name)) => fields.remove(name)?,
            (Value::Array(items), Step::Item(index)) => items.remove(*index),
            _ => return None,
        };
        let result = match (T::deserialize(&self.value), step) {
            (Ok(_), _) => Without::Fine,
            (Err(error), Step::Field(name)) if error.to_string() == format!("missing field `{name}`") => {
                Without::Missing
            }
            (Err(_), _) => Without::Faulty,
        };
        match (self.value.pointer_mut(&self.at)?, step) {
            (Value::Object(fields), Step::Field(name)) => drop(fields.insert(name.clone(), taken)),
            (Value::Array(items), Step::Item(index)) => items.insert(*index, taken),
            _ => return None,
        }
        Some(result)
    }

    fn below(&self, step: &Step) -> String {
        match step {
            Step::Field(name) => field_pointer(&self.at, name),
            Step::Item(index) => format!("{}/{index}", self.at),
        }
    }
}

enum Step {
    Field(String),
    Item(usize),
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::flow::definition::{Action, Block, Target, Validation};
    use crate::message::ContentMessage;

    fn place<T: DeserializeOwned>(value: &Value) -> String {
        let fault = T::deserialize(value).err().expect("a fault").to_string();
        narrowed::<T>(value, "", &fault)
    }

    #[test]
    fn the_part_at_fault_is_found() {
        let text = |text: Value| json!({ "type": "text", "text": text });
        assert_eq!(place::<ContentMessage>(&text(json!({ "body": 5 }))), "/text/body");
        assert_eq!(place::<ContentMessage>(&text(json!("oi"))), "/text");
        let buttons = |reply: Value| {
            json!({ "type": "interactive", "interactive": { "type": "button", "body": { "text": "?" },
                "action": { "buttons": [
                    { "type": "reply", "reply": { "id": "a", "title": "A" } },
                    { "type": "reply", "reply": reply },
                ] } } })
        };
        let of_second = "/interactive/action/buttons/1/reply";
        assert_eq!(
            place::<ContentMessage>(&buttons(json!({ "id": "b", "title": 2 }))),
            format!("{of_second}/title")
        );
        // A field that is missing is missing in an object.
        assert_eq!(place::<ContentMessage>(&buttons(json!({ "id": "b" }))), of_second);
        let request = json!({ "type": "httpRequest", "url": "https://a.example", "timeoutMs": "soon" });
        assert_eq!(place::<Action>(&request), "/timeoutMs");
        assert_eq!(place::<Validation>(&json!({ "kind": "magic" })), "/kind");
        assert_eq!(place::<Validation>(&json!({ "kind": "number", "min": 1, "retry/~": "?" })), "/retry~1~0");
        // Of a block, what is read last is hidden by what is read first.
        let agent = json!({ "id": "a", "type": "agent", "agentId": "g", "maxMessages": "x", "defaultOutput": { "end": true } });
        assert_eq!(place::<Block>(&agent), "");
        // Two that do not go together.
        assert_eq!(place::<Target>(&json!({ "blockId": "b", "end": true })), "");
    }

    #[test]
    fn a_large_value_is_not_tried_for_ever() {
        let mut buttons = vec![json!({ "type": "reply", "reply": { "id": "a", "title": "A" } }); 1_000];
        buttons.push(json!(7));
        let value = json!({ "type": "interactive",
            "interactive": { "type": "button", "body": { "text": "?" }, "action": { "buttons": buttons } } });
        assert_eq!(place::<ContentMessage>(&value), "/interactive/action/buttons");
        // A long text would be copied into the message of every trial.
        let wide = |text: &str| {
            let mut fields: Map<String, Value> = (0..100).map(|at| (format!("a{at}"), json!(1))).collect();
            fields.extend([("type".to_owned(), json!("text")), ("text".to_owned(), json!(text))]);
            Value::Object(fields)
        };
        assert_eq!(place::<ContentMessage>(&wide("x")), "/text");
        assert_eq!(place::<ContentMessage>(&wide(&"x".repeat(1_000_000))), "");
    }
}
