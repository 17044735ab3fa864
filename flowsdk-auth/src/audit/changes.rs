//! The part of a record on the change of an entity, from the entity's public JSON (spec A 2.7).

use flowsdk_core::change::Hidden;
use serde_json::{Map, Value, json};

/// Fields whose values never get into the log: those of the contract, and our names for them.
const SENSITIVE: &[&str] = &[
    "password",
    "passwordHash",
    "tokenHash",
    "accessTokenEncrypted",
    "channelAppSecretEncrypted",
    "encryptionPrivateKeyEncrypted",
    "encryptionPassphraseEncrypted",
    "apiKeyEncrypted",
    "valueEncrypted",
    "token",
    "codeHash",
    "sessionKeyHash",
    "embedSecret",
    "channelVerifyToken",
    "channelAppSecret",
    "accessToken",
    "apiKey",
    "credentials",
    "logfireToken",
    "privateKey",
    "passphrase",
];

/// What stands for a value that the log does not keep.
pub const HIDDEN: &str = "***";

/// Fields that change with every change and say nothing.
const IGNORED: &[&str] = &["createdAt", "updatedAt"];

/// Returns whether values of this field stay out of the log. Every value stored encrypted does, under any name.
fn is_sensitive(field: &str) -> bool {
    SENSITIVE.contains(&field) || field.ends_with("Encrypted")
}

/// Returns the entity without sensitive fields, at any depth: the `changes` of CREATE and DELETE.
pub fn snapshot(entity: &Value) -> Value {
    match entity {
        Value::Object(fields) => fields
            .iter()
            .filter(|(field, _)| !is_sensitive(field))
            .map(|(field, value)| (field.clone(), snapshot(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(snapshot).collect(),
        other => other.clone(),
    }
}

/// `{ field: { from, to } }` of the fields that changed, without sensitive ones and without `createdAt` and
/// `updatedAt`: the `changes` of UPDATE. A field that is missing on one side is null there. Of a `hidden` field there
/// is [`HIDDEN`] instead of a value.
pub fn diff(before: &Value, after: &Value, hidden: &[Hidden]) -> Value {
    let empty = Map::new();
    let (before, after) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let mut changes = Map::new();
    for field in before.keys().chain(after.keys()) {
        if is_sensitive(field) || IGNORED.contains(&field.as_str()) || changes.contains_key(field) {
            continue;
        }
        let shown = |fields: &Map<String, Value>| fields.get(field).map_or(Value::Null, snapshot);
        let (from, to) = (shown(before), shown(after));
        if from != to {
            changes.insert(field.clone(), json!({ "from": from, "to": to }));
        }
    }
    for Hidden { field, had, has } in hidden {
        let shown = |is_there: &bool| is_there.then_some(HIDDEN);
        changes.insert(field.clone(), json!({ "from": shown(had), "to": shown(has) }));
    }
    changes.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn sensitive_fields_are_in_no_snapshot() {
        let secret = "s3cret";
        let mut entity = json!({ "id": "c1", "hasToken": true, "createdAt": "2026", "list": [{ "token": secret, "a": 1 }],
            "nested": { "igAppSecretEncrypted": secret, "b": 2 } });
        for field in SENSITIVE {
            entity[*field] = json!(secret);
        }
        let shown = snapshot(&entity);
        assert_eq!(
            shown,
            json!({ "id": "c1", "hasToken": true, "createdAt": "2026", "list": [{ "a": 1 }], "nested": { "b": 2 } })
        );
    }

    #[test]
    fn a_diff_names_what_changed_and_nothing_else() {
        let before = json!({ "name": "a", "gone": 1, "same": [1], "password": "x", "nested": { "token": "x" }, "updatedAt": "1" });
        let after = json!({ "name": "b", "new": null, "more": 2, "same": [1], "password": "y", "nested": { "token": "y" }, "updatedAt": "2" });
        assert_eq!(
            diff(&before, &after, &[]),
            json!({ "name": { "from": "a", "to": "b" }, "gone": { "from": 1, "to": null },
                    "more": { "from": null, "to": 2 } })
        );
        assert_eq!(diff(&before, &before, &[]), json!({}));
        assert_eq!(diff(&json!(1), &json!([2]), &[]), json!({}));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A diff leads from the one entity to the other.
        #[test]
        fn a_diff_leads_from_before_to_after(
            before in proptest::collection::btree_map("[a-e]", any::<u8>(), 0..5),
            after in proptest::collection::btree_map("[a-e]", any::<u8>(), 0..5).prop_map(|map| map),
        ) {
            let (before, after) = (json!(before), json!(after));
            let changes = diff(&before, &after, &[]);
            for (field, change) in changes.as_object().expect("an object") {
                prop_assert_eq!(&change["from"], &before[field]);
                prop_assert_eq!(&change["to"], &after[field]);
                prop_assert!(change["from"] != change["to"]);
            }
            for field in ["a", "b", "c", "d", "e"] {
                prop_assert_eq!(before[field] == after[field], changes.get(field).is_none());
            }
        }
    }
}
