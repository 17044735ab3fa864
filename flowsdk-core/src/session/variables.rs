//! Variables of sessions and contacts, as the API changes them: a shallow merge within limits.

use std::ops::Deref;

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::text::Text;

/// Most bytes of all variables together, as JSON: they are read and written with every turn.
pub const MAX_VARIABLES: usize = 64 * 1024;
/// Longest key, in characters.
pub const MAX_VARIABLE_KEY: usize = 128;
/// Deepest nesting of lists and objects in a value.
pub const MAX_VARIABLE_DEPTH: usize = 16;

/// A variable that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("variable `{key}` is refused")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct InvalidVariable {
    pub key: String,
    /// Why it is refused, for people.
    pub text: Text,
}

/// All together would have more than [`MAX_VARIABLES`] bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
#[error("more than {MAX_VARIABLES} bytes of variables")]
#[fault(
    Unprocessable,
    "variables_too_large",
    pt = "As variáveis podem ter no máximo 64 KiB no total",
    en = "The variables may have at most 64 KiB in total"
)]
pub struct VariablesTooLarge;

/// Variables that may be stored: the use cases that store variables of a caller take nothing else.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SentVariables(Map<String, Value>);

impl SentVariables {
    /// Validates that these variables may be stored. Keys must be such that a token can name them (spec A 9), so they
    /// hold no dot, no brace, no blank and no control character.
    ///
    /// # Errors
    /// Every variable that may not be stored.
    pub fn check(sent: Map<String, Value>) -> Result<Self, Vec<InvalidVariable>> {
        let refused = refused(&sent);
        if refused.is_empty() { Ok(Self(sent)) } else { Err(refused) }
    }
}

impl Deref for SentVariables {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

fn refused(sent: &Map<String, Value>) -> Vec<InvalidVariable> {
    let mut refused = Vec::new();
    for (key, value) in sent {
        let text = if key.is_empty() || key.chars().count() > MAX_VARIABLE_KEY {
            Text::of(
                format!("A chave deve ter de 1 a {MAX_VARIABLE_KEY} caracteres"),
                format!("The key must have 1 to {MAX_VARIABLE_KEY} characters"),
            )
        } else if key.contains(|c: char| c.is_control() || c.is_whitespace() || matches!(c, '.' | '{' | '}'))
        {
            Text::new(
                "A chave não pode conter ponto, chaves, espaços nem caracteres de controle",
                "The key may not contain dots, braces, blanks or control characters",
            )
        } else if depth(value) > MAX_VARIABLE_DEPTH {
            Text::of(
                format!("Pode ter no máximo {MAX_VARIABLE_DEPTH} níveis"),
                format!("May have at most {MAX_VARIABLE_DEPTH} levels"),
            )
        } else {
            continue;
        };
        refused.push(InvalidVariable { key: key.clone(), text });
    }
    refused
}

/// Levels of lists and objects in `value`.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(map) => map.values().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Merges `sent` into `stored` (spec A 4.5 rule 2): keys sent replace, others are kept, null is stored.
///
/// # Errors
/// [`VariablesTooLarge`]; `stored` is then to be thrown away.
pub fn merge_variables(
    stored: &mut Map<String, Value>,
    sent: &Map<String, Value>,
) -> Result<(), VariablesTooLarge> {
    stored.extend(sent.iter().map(|(key, value)| (key.clone(), value.clone())));
    let size = serde_json::to_vec(stored).map_or(usize::MAX, |json| json.len());
    if size > MAX_VARIABLES { Err(VariablesTooLarge) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn rule_2_a_merge_is_shallow_and_keeps_null() {
        let mut stored = map(json!({ "a": { "x": 1 }, "b": 2, "c": 3 }));
        merge_variables(&mut stored, &map(json!({ "a": { "y": 2 }, "b": null }))).expect("fits");
        assert_eq!(stored, map(json!({ "a": { "y": 2 }, "b": null, "c": 3 })));
    }

    #[test]
    fn variables_have_limits() {
        let long = "k".repeat(MAX_VARIABLE_KEY);
        for good in [json!({}), json!({ "ação": 1, "a-b": [] }), json!({ long.clone(): null })] {
            assert!(SentVariables::check(map(good.clone())).is_ok(), "{good}");
        }
        for key in ["", "a.b", "a b", "{a", "a}", "a\n", &format!("{long}k")] {
            assert!(SentVariables::check(map(json!({ key: 1 }))).is_err(), "{key:?}");
        }
        let several = SentVariables::check(map(json!({ "a.b": 1, "good": 2, "": 3 }))).expect_err("refused");
        assert_eq!(several.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["", "a.b"]);
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(SentVariables::check(map(json!({ "a": nested(MAX_VARIABLE_DEPTH) }))).is_ok());
        assert!(SentVariables::check(map(json!({ "a": nested(MAX_VARIABLE_DEPTH + 1) }))).is_err());
        let fits = json!({ "a": "x".repeat(MAX_VARIABLES - r#"{"a":""}"#.len()) });
        assert_eq!(merge_variables(&mut Map::new(), &map(fits.clone())), Ok(()));
        let mut full = map(fits);
        assert_eq!(merge_variables(&mut full, &map(json!({ "b": 1 }))), Err(VariablesTooLarge));
    }
}
