//! The context of an embed token (spec B 4.3, context rules).

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// Hex digits of a fingerprint.
const FINGERPRINT_LEN: usize = 16;

/// Returns whether the interpolator can read a session variable of this name.
fn readable(key: &str) -> bool {
    let starts_well = key.chars().next().is_some_and(|first| !first.is_numeric());
    let breaks = |c: char| matches!(c, '-' | '@' | '.' | '{' | '}') || c.is_whitespace() || c.is_control();
    starts_well && !key.contains(breaks)
}

/// The context of a session: the part of the claim that becomes session variables, and the fingerprint that
/// tells contexts apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Session variables, available from the first block (rule 1).
    pub variables: Map<String, Value>,
    /// The `<hash>` of `-ctx<hash>` (rule 2); `None` when nothing is left.
    pub fingerprint: Option<String>,
}

impl Context {
    /// Drops the keys that cannot be read and takes the fingerprint of the rest.
    pub fn new(claim: Map<String, Value>) -> Self {
        let variables: Map<String, Value> = claim.into_iter().filter(|(key, _)| readable(key)).collect();
        let fingerprint = (!variables.is_empty()).then(|| fingerprint(&variables));
        Self { variables, fingerprint }
    }
}

/// The same for the same keys and values, in whatever order they came.
fn fingerprint(variables: &Map<String, Value>) -> String {
    let mut text = String::new();
    canonical_object(variables, &mut text);
    let mut digest = hex::encode(Sha256::digest(text.as_bytes()));
    digest.truncate(FINGERPRINT_LEN);
    digest
}

fn canonical_object(map: &Map<String, Value>, out: &mut String) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in entries {
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        canonical(value, out);
        out.push(',');
    }
    out.push('}');
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => canonical_object(map, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
    use serde_json::json;

    use super::*;

    fn context(value: Value) -> Context {
        Context::new(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn rule_1_keys_the_interpolator_cannot_read_are_dropped() {
        let kept =
            context(json!({ "plan": "pro", "user-id": 1, "a@b": 2, "1st": 3, "a.b": 4, "_x": 5, "é": 6 }));
        let keys: Vec<_> = kept.variables.keys().map(String::as_str).collect();
        assert_eq!(keys, ["_x", "plan", "é"]);
    }

    #[test]
    fn rule_2_the_same_context_has_the_same_fingerprint_in_any_order() {
        let one = context(json!({ "a": 1, "b": { "x": [1, 2], "y": null } }));
        let two = context(json!({ "b": { "y": null, "x": [1, 2] }, "a": 1 }));
        assert_eq!(one.fingerprint, two.fingerprint);
        assert_eq!(one.fingerprint.as_ref().map(String::len), Some(16));
    }

    #[test]
    fn rule_3_another_value_is_another_conversation() {
        assert_ne!(context(json!({ "a": 1 })).fingerprint, context(json!({ "a": "1" })).fingerprint);
        assert_ne!(context(json!({ "a": [1, 2] })).fingerprint, context(json!({ "a": [12] })).fingerprint);
        assert_eq!(context(json!({ "a-b": 1 })).fingerprint, None);
    }

    fn claims() -> impl Strategy<Value = Vec<(String, i64)>> {
        proptest::collection::vec(("\\PC{0,6}", any::<i64>()), 0..8)
    }

    proptest! {
        #[test]
        fn order_never_matters_and_kept_keys_are_readable(pairs in claims()) {
            let forward: Map<String, Value> = pairs.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
            let backward: Map<String, Value> = forward.clone().into_iter().rev().collect();
            let context = Context::new(forward);
            prop_assert_eq!(&context, &Context::new(backward));
            for key in context.variables.keys() {
                prop_assert!(!key.contains(['-', '@']) && !key.starts_with(|c: char| c.is_ascii_digit()));
            }
        }
    }
}
