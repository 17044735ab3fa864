//! What reading a definition took without a word: a list where an object belongs, because serde fills a struct from
//! either, and fields of messages that nobody knows.

use serde_json::{Map, Value};

use super::{Block, FlowDefinition, Problem, field_pointer};
use crate::text::Text;

/// The field of a block whose messages may have unknown fields: they have the shape of a provider, whose own fields
/// are ignored.
const CONTENTS: &str = "contents";
/// The pointer of the blocks.
const BLOCKS: &str = "/blocks";

impl FlowDefinition {
    /// Returns what `json`, from which this definition was read, says and this definition does not. A version that was
    /// published before may have such parts, and still runs.
    pub(in crate::flow) fn unread(&self, json: &Value) -> Vec<Problem> {
        let mut unread = Unread { blocks: &self.blocks, block: None, in_contents: false, found: Vec::new() };
        // Written again, a definition has an object wherever one belongs, and no field that nobody knows.
        if let Ok(read) = serde_json::to_value(self) {
            unread.compare(json, &read, "");
        }
        unread.found
    }
}

struct Unread<'d> {
    blocks: &'d [Block],
    /// The block that is looked at.
    block: Option<&'d Block>,
    in_contents: bool,
    found: Vec<Problem>,
}

impl Unread<'_> {
    /// Compares two values that differ. Equal parts have no pointer made: in those that hold any JSON it can be as long
    /// as the definition.
    fn compare(&mut self, written: &Value, read: &Value, pointer: &str) {
        match (written, read) {
            (Value::Array(written), Value::Array(read)) => {
                let items =
                    written.iter().zip(read).enumerate().filter(|(_, (written, read))| written != read);
                for (at, (written, read)) in items {
                    if pointer == BLOCKS {
                        self.block = self.blocks.get(at);
                    }
                    self.compare(written, read, &format!("{pointer}/{at}"));
                }
                if pointer == BLOCKS {
                    self.block = None;
                }
            }
            (Value::Object(written), Value::Object(read)) => self.fields(written, read, pointer),
            (Value::Array(_), Value::Object(_)) => {
                let message = Text::new(
                    "tipo inválido: lista, esperado um objeto",
                    "invalid type: list, expected an object",
                );
                self.add(Problem::error("malformed", pointer, message));
            }
            _ => {}
        }
    }

    fn fields(&mut self, written: &Map<String, Value>, read: &Map<String, Value>, pointer: &str) {
        for (name, value) in written {
            let at = || field_pointer(pointer, name);
            match read.get(name) {
                Some(read) if value == read => {}
                Some(read) => {
                    let outer = self.in_contents;
                    self.in_contents |= name == CONTENTS;
                    self.compare(value, read, &at());
                    self.in_contents = outer;
                }
                // An optional field that is null is not written again.
                None if self.in_contents && !value.is_null() => {
                    let message = Text::of(
                        format!("mensagens não têm o campo `{name}` aqui; ele não é enviado"),
                        format!("messages have no field `{name}` here; it is not sent"),
                    );
                    self.add(Problem::warning("unknown_field", at(), message));
                }
                None => {}
            }
        }
    }

    fn add(&mut self, problem: Problem) {
        self.found.push(match &self.block {
            Some(block) => problem.in_block(&block.id),
            None => problem,
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::definition::Severity;

    /// The places of what is not read of a flow with `block`, warnings with a `?`.
    fn unread(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut json = json!({ "schemaVersion": 1, "startBlockId": "first", "settings": { "trace": true }, "blocks": [
            { "id": "first", "type": "content", "defaultOutput": { "blockId": "pick" } },
            { "id": "pick", "type": "content", "position": { "x": 1.0, "y": 2.0 },
                "onEnter": [{ "type": "httpRequest", "url": "https://a.example",
                    "body": { "contents": [{ ("k".repeat(100_000)): vec![1; 100_000] }] } }],
                "contents": [
                    { "type": "text", "text": { "body": "Oi" } },
                    { "type": "interactive", "interactive": { "type": "button", "header": null,
                        "body": { "text": "?" }, "action": { "buttons": [
                            { "type": "reply", "reply": { "id": "a", "title": "A" } },
                        ] } } },
                ],
                "defaultOutput": { "end": true } },
        ] });
        change(&mut json);
        let found = FlowDefinition::parse(&json).expect("can be read").unread(&json);
        let line = |problem: Problem| {
            let in_block = problem.pointer.starts_with(BLOCKS).then_some("pick");
            assert_eq!(problem.block_id.as_ref().map(|id| id.as_str()), in_block);
            let mark = if problem.severity == Severity::Warning { "?" } else { "" };
            format!("{}{mark} {}", problem.code, problem.pointer)
        };
        found.into_iter().map(line).collect()
    }

    #[test]
    fn a_list_is_no_object() {
        assert_eq!(unread(|_| {}), [""; 0]);
        for (pointer, list) in [
            ("/settings", json!([])),
            ("/blocks/1/defaultOutput", json!(["first"])),
            ("/blocks/1/position", json!([1.0, 2.0])),
            ("/blocks/1/contents/0/text", json!(["Oi"])),
            ("/blocks/1/contents/1/interactive/body", json!(["?"])),
            ("/blocks/1/contents/1/interactive/action/buttons/0/reply", json!(["a", "A"])),
        ] {
            let found = unread(|json| *json.pointer_mut(pointer).expect("is there") = list);
            assert_eq!(found, [format!("malformed {pointer}")]);
        }
    }

    #[test]
    fn fields_of_messages_that_nobody_knows_are_named() {
        for (pointer, expected) in [
            ("/blocks/1/contents/0/colour", "unknown_field? /blocks/1/contents/0/colour"),
            ("/blocks/1/contents/0/text/previewUrl", "unknown_field? /blocks/1/contents/0/text/previewUrl"),
            (
                "/blocks/1/contents/1/interactive/footr",
                "unknown_field? /blocks/1/contents/1/interactive/footr",
            ),
        ] {
            let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
            let found = unread(|json| json.pointer_mut(parent).expect("is there")[field] = json!("x"));
            assert_eq!(found, [expected]);
        }
        // A null is no text of a field.
        assert_eq!(
            unread(|json| json["blocks"][1]["contents"][0]["text"]["previewUrl"] = json!(null)),
            [""; 0]
        );
    }
}
