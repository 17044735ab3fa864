//! Variables of sessions and contacts: a shallow merge, and the limits that hold for whoever stores them
//! (rulings S16).

use std::ops::Deref;

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::text::Text;

/// Most bytes of all variables of a session together, as JSON: they are read and written with every turn.
pub const MAX_SESSION_VARIABLES: usize = 256 * 1024;
/// Most bytes of all variables of a contact together, as JSON: every session of the contact reads them.
pub const MAX_CONTACT_VARIABLES: usize = 64 * 1024;
/// Most bytes of one value, as JSON.
pub const MAX_VARIABLE: usize = 64 * 1024;
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

/// A value would exceed [`MAX_VARIABLE`], or all together [`MAX_SESSION_VARIABLES`] or [`MAX_CONTACT_VARIABLES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
#[error("too many bytes of variables")]
#[fault(
    Unprocessable,
    "variables_too_large",
    pt = "As variáveis podem ter no máximo 64 KiB cada uma e, no total, 256 KiB em uma sessão e 64 KiB em um contato",
    en = "The variables may have at most 64 KiB each and, in total, 256 KiB in a session and 64 KiB in a contact"
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
        } else if json_depth(value) > MAX_VARIABLE_DEPTH {
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

/// Returns the levels of lists and objects in `value`.
pub fn json_depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(json_depth).max(),
        Value::Object(map) => map.values().map(json_depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Merges `sent` into `stored` (spec A 4.5 rule 2): keys sent replace, others are kept, null is stored. All together
/// may have `most` bytes. What is larger already may stay as large: a write that does not grow it is taken.
///
/// # Errors
/// [`VariablesTooLarge`]; nothing is merged then.
pub fn merge_variables(
    stored: &mut Map<String, Value>,
    sent: &Map<String, Value>,
    most: usize,
) -> Result<(), VariablesTooLarge> {
    let before = size_of_variables(stored);
    let mut after = before;
    for (key, value) in sent {
        after = replaced(after, key, stored.get(key), value)?;
    }
    if after > before.max(most) {
        return Err(VariablesTooLarge);
    }
    stored.extend(sent.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(())
}

/// Returns the bytes of `variables` as JSON.
pub(crate) fn size_of_variables(variables: &Map<String, Value>) -> usize {
    // The braces, less the comma that the last one lacks.
    1 + variables.iter().map(|(key, value)| size_of_variable(key, value)).sum::<usize>()
}

/// Returns the bytes that a variable adds to the others, as JSON.
pub(crate) fn size_of_variable(key: &str, value: &Value) -> usize {
    json_size(key) + json_size(value) + 2
}

/// Returns the bytes of all variables, which are `total` now, once `new` has taken the place of `old`.
///
/// # Errors
/// `new` is larger than [`MAX_VARIABLE`] and than `old`.
pub(crate) fn replaced(
    total: usize,
    key: &str,
    old: Option<&Value>,
    new: &Value,
) -> Result<usize, VariablesTooLarge> {
    let (was, is) = (old.map(json_size), json_size(new));
    if is > was.unwrap_or(0).max(MAX_VARIABLE) {
        return Err(VariablesTooLarge);
    }
    let was = was.map_or(0, |was| was + json_size(key) + 2);
    Ok((total + json_size(key) + is + 2).saturating_sub(was))
}

/// Counts the bytes of `value` as JSON.
fn json_size(value: &(impl serde::Serialize + ?Sized)) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).map_or(usize::MAX / 4, |()| count.0)
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
        merge_variables(&mut stored, &map(json!({ "a": { "y": 2 }, "b": null })), MAX_SESSION_VARIABLES)
            .expect("fits");
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
    }

    #[test]
    fn stored_variables_have_limits_for_all_writers() {
        let merge = |stored: &Value, sent: Value| {
            let mut stored = map(stored.clone());
            merge_variables(&mut stored, &map(sent), MAX_SESSION_VARIABLES).map(|()| stored)
        };
        let text = |bytes: usize| json!("x".repeat(bytes - 2));
        let none = json!({});
        assert!(merge(&none, json!({ "a": text(MAX_VARIABLE) })).is_ok());
        assert_eq!(merge(&none, json!({ "a": text(MAX_VARIABLE + 1) })), Err(VariablesTooLarge));
        let four = json!({ "a": text(MAX_VARIABLE - 6), "b": text(MAX_VARIABLE - 5), "c": text(MAX_VARIABLE - 5),
            "d": text(MAX_VARIABLE - 5) });
        assert_eq!(serde_json::to_vec(&four).expect("JSON").len(), MAX_SESSION_VARIABLES);
        assert_eq!(size_of_variables(&map(four.clone())), MAX_SESSION_VARIABLES);
        assert!(merge(&none, four.clone()).is_ok());
        assert_eq!(merge(&four, json!({ "e": 1 })), Err(VariablesTooLarge));
        assert_eq!(merge(&four, json!({ "a": text(MAX_VARIABLE - 5) })), Err(VariablesTooLarge));
        assert!(merge(&four, json!({ "a": text(MAX_VARIABLE - 7), "b": text(MAX_VARIABLE - 4) })).is_ok());
        // Stored before there was a limit.
        let mut legacy = map(json!({ "big": text(9 * MAX_VARIABLE), "small": 1 }));
        for sent in [
            json!({ "small": 2 }),
            json!({ "big": text(9 * MAX_VARIABLE) }),
            json!({ "big": text(8 * MAX_VARIABLE) }),
        ] {
            assert_eq!(merge_variables(&mut legacy, &map(sent), MAX_SESSION_VARIABLES), Ok(()));
        }
        for sent in [json!({ "small": 22 }), json!({ "big": text(9 * MAX_VARIABLE) })] {
            assert_eq!(
                merge_variables(&mut legacy, &map(sent), MAX_SESSION_VARIABLES),
                Err(VariablesTooLarge)
            );
        }
        assert_eq!(legacy["small"], 2, "nothing of a refused merge is there");
    }
}
