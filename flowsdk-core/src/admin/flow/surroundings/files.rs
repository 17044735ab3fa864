//! The uploaded files that a flow names.

use std::collections::{BTreeSet, HashSet};

use crate::fault::StorageError;
use crate::flow::definition::{BlockKind, FlowDefinition};
use crate::flow::interpolate::Template;
use crate::flow::{Flow, Problem};
use crate::media::{HasMedia, MediaId};
use crate::text::Text;

/// Returns the files that a definition names by id, with the block and the pointer to their message. An id that a token
/// fills in is not known yet.
fn named(definition: &FlowDefinition) -> Vec<(usize, String, MediaId)> {
    let mut found = Vec::new();
    for (at, block) in definition.blocks.iter().enumerate() {
        let BlockKind::Content { contents, .. } = &block.kind else { continue };
        for (nth, message) in contents.iter().enumerate() {
            let files =
                message.own_files().into_iter().filter(|id| Template::parse(id).as_literal().is_some());
            let ids = files.filter_map(|id| MediaId::parse(id).ok());
            found.extend(ids.map(|id| (at, format!("/blocks/{at}/contents/{nth}"), id)));
        }
    }
    found
}

/// Returns those of the files that a definition names which its router does not have, or whose content is not here.
pub(super) async fn missing<X: HasMedia>(
    tx: &mut X,
    flow: &Flow,
    definition: &FlowDefinition,
) -> Result<HashSet<MediaId>, StorageError> {
    let mut named: BTreeSet<MediaId> = named(definition).into_iter().map(|(.., id)| id).collect();
    if !named.is_empty() {
        let ids: Vec<MediaId> = named.iter().cloned().collect();
        for file in tx.media().find_many(&ids).await? {
            if file.router_id.as_ref() == Some(&flow.router_id) && file.is_there() {
                named.remove(&file.id);
            }
        }
    }
    Ok(named.into_iter().collect())
}

/// Returns the warnings of messages that name missing files.
pub(super) fn warnings(definition: &FlowDefinition, missing: &HashSet<MediaId>) -> Vec<Problem> {
    let gone = named(definition).into_iter().filter(|(.., id)| missing.contains(id));
    gone.map(|(at, pointer, id)| {
        let text = Text::of(
            format!("o roteador não tem o arquivo `{id}`"),
            format!("the router does not have the file `{id}`"),
        );
        Problem::warning("file_not_found", pointer, text).in_block(&definition.blocks[at].id)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_that_are_not_there_are_named_at_their_message() {
        let header = json!({ "type": "image", "image": { "id": "gone" } });
        let definition = json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [
            { "id": "a", "type": "content", "defaultOutput": { "end": true }, "contents": [
                { "type": "image", "image": { "id": "there" } },
                { "type": "image", "image": { "link": "https://x.example/gone" } },
                { "type": "audio", "audio": { "id": "4711" } },
                { "type": "document", "document": { "id": "{{file}}" } },
                { "type": "interactive", "interactive": { "type": "button", "header": header, "body": { "text": "?" },
                    "action": { "buttons": [{ "type": "reply", "reply": { "id": "a", "title": "A" } }] } } } ] }] });
        let definition = FlowDefinition::parse(&definition).expect("parses");
        let found: Vec<String> = named(&definition).into_iter().map(|(.., id)| id.to_string()).collect();
        assert_eq!(found, ["there", "gone"]);
        let missing = HashSet::from([MediaId::parse("gone").expect("an id")]);
        let found = warnings(&definition, &missing);
        assert_eq!(
            (found.len(), &*found[0].pointer, found[0].code),
            (1, "/blocks/0/contents/4", "file_not_found")
        );
    }
}
