//! References between flows: ids at home, names on the way.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

/// Fields of a definition that hold a text of its author, whatever that looks like.
const OPAQUE: [&str; 4] = ["value", "values", "text", "body"];

/// Fields that name something which does not travel.
const ELSEWHERE: [&str; 3] = ["agentId", "queueId", "userId"];

/// Renames the flows in the definition: `rename` returns the new name, or `None` where there is none. Returns the
/// names that stayed.
pub fn rename_flows(definition: &mut Value, rename: &HashMap<&str, String>) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    visit(definition, &mut |field, value| {
        if let ("flowId", Value::String(name)) = (field, value) {
            match rename.get(name.as_str()) {
                Some(new) => name.clone_from(new),
                None => drop(unknown.insert(name.clone())),
            }
        }
    });
    unknown
}

/// Returns the names in a definition that do not travel: fields and names.
pub fn elsewhere(definition: &Value) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    let mut copy = definition.clone();
    visit(&mut copy, &mut |field, value| {
        let known = ELSEWHERE.into_iter().find(|known| *known == field);
        if let (Some(known), Value::String(name)) = (known, value) {
            found.insert((known, name.clone()));
        }
    });
    found
}

/// Looks at every field, its own stack on the heap: a definition may be as deep as JSON may.
fn visit(definition: &mut Value, look: &mut impl FnMut(&str, &mut Value)) {
    let mut waiting = vec![definition];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    look(name, value);
                    if !OPAQUE.contains(&name.as_str()) {
                        waiting.push(value);
                    }
                }
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
}

/// Returns a name for each entity, made of the name that people use and different from all others: `Boas-vindas!`
/// is `boas-vindas`, the next one of this name `boas-vindas-2`.
pub fn slugs<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let mut made = Vec::new();
    for name in names {
        let base = slug(name);
        let count = next.entry(base.clone()).or_insert(1);
        let free = loop {
            let tried = if *count == 1 { base.clone() } else { format!("{base}-{count}") };
            *count += 1;
            if taken.insert(tried.clone()) {
                break tried;
            }
        };
        made.push(free);
    }
    made
}

/// Longest part of a name that its slug keeps, in characters.
const LONGEST: usize = 60;

/// Small letters, digits and single hyphens; accents go.
fn slug(name: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    let mut slug = String::new();
    for c in name.nfd().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !('\u{300}'..='\u{36f}').contains(&c) && !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= LONGEST {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "flow".to_owned() } else { slug.to_owned() }
}

/// The name, or with a number behind it that makes it another one than `taken` has.
pub fn free_name(name: &str, taken: &BTreeSet<String>) -> String {
    let mut number = 2;
    let mut free = name.to_owned();
    while taken.contains(&free) {
        free = format!("{name} ({number})");
        number += 1;
    }
    free
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flows_are_renamed_where_they_are_targets() {
        let mut definition = json!({ "blocks": [
            { "defaultOutput": { "flowId": "c1", "blockId": "c1" }, "id": "c1",
              "outputConditions": [{ "target": { "flowId": "c2" } }],
              "onEnter": [{ "type": "setVariable", "value": { "flowId": "c1" } }] },
            { "type": "flow", "flowId": "c9", "queueId": "q1", "agentId": null } ] });
        let names: HashMap<&str, String> = [("c1", "um".to_owned()), ("c2", "dois".to_owned())].into();
        let unknown = rename_flows(&mut definition, &names);
        assert_eq!(unknown.into_iter().collect::<Vec<_>>(), ["c9"]);
        assert_eq!(
            definition,
            json!({ "blocks": [
                { "defaultOutput": { "flowId": "um", "blockId": "c1" }, "id": "c1",
                  "outputConditions": [{ "target": { "flowId": "dois" } }],
                  "onEnter": [{ "type": "setVariable", "value": { "flowId": "c1" } }] },
                { "type": "flow", "flowId": "c9", "queueId": "q1", "agentId": null } ] })
        );
        assert_eq!(elsewhere(&definition).into_iter().collect::<Vec<_>>(), [("queueId", "q1".to_owned())]);
    }

    #[test]
    fn slugs_are_ids_and_differ() {
        let names = ["Boas-vindas!", "Boas vindas", "Ação 👋 2", "", "👋", "boas-vindas-2", &"á".repeat(500)];
        let made = slugs(names);
        assert_eq!(
            made[..6],
            ["boas-vindas", "boas-vindas-2", "acao-2", "flow", "flow-2", "boas-vindas-2-2"]
        );
        assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), made.len());
        for slug in made {
            assert!(crate::id::FlowId::parse(&slug).is_ok(), "{slug}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let taken: BTreeSet<String> = ["A".to_owned(), "A (2)".to_owned()].into();
        assert_eq!(free_name("A", &taken), "A (3)");
        assert_eq!(free_name("B", &taken), "B");
    }
}
