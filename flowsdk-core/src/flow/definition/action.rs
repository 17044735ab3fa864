//! Actions of `onEnter` and `onLeave`.

use serde::de::{self, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Condition, ExecuteScriptAction, HttpRequestAction};

/// One action, and when it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// The part that depends on the `type`.
    #[serde(flatten)]
    pub kind: ActionKind,
    /// It runs only when all of these hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Whether the block goes on when the action fails.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub continue_on_error: bool,
}

/// The work of an action, discriminated by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ActionKind {
    /// Sets a session variable. A text is interpolated, also inside an object or a list.
    SetVariable {
        /// The name of the variable.
        key: String,
        /// The value to set, interpolated.
        value: Value,
    },
    /// Removes a session variable.
    DeleteVariable {
        /// The name of the variable.
        key: String,
    },
    /// Sets and locks the contact's name; a blank one is ignored (spec A 9, contact-name rule).
    SetContactName {
        /// The new name, interpolated.
        value: String,
    },
    /// Merges a key into the contact's variables (spec A 9).
    SetContactVariable {
        /// The name of the contact's variable.
        key: String,
        /// Its value, as in `setVariable`.
        value: Value,
    },
    /// Closes the chat. The session goes on to the block's target.
    CloseChat {},
    /// Notes that the contact may be written to by the router (spec A 2.4).
    AcceptOptIn {},
    /// Notes that it may no longer be.
    RevokeOptIn {},
    /// Adds labels to the chat.
    AddTags {
        /// The labels, interpolated; blank ones are ignored.
        tags: Vec<String>,
    },
    /// Records that something happened, for reports.
    TrackEvent {
        /// The name of the event.
        name: String,
        /// Details; texts in them are interpolated.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        properties: Map<String, Value>,
    },
    /// Asks a server; the turn waits for the answer.
    HttpRequest(Box<HttpRequestAction>),
    /// Runs a script; the turn waits for its result.
    ExecuteScript(Box<ExecuteScriptAction>),
    /// Shows that an answer is being typed before the next message.
    Delay {
        /// How long typing is shown, in milliseconds.
        millis: u64,
    },
}

/// The `type`s of [`ActionKind`].
pub(crate) const ACTION_TYPES: [&str; 12] = [
    "setVariable",
    "deleteVariable",
    "setContactName",
    "setContactVariable",
    "closeChat",
    "acceptOptIn",
    "revokeOptIn",
    "addTags",
    "trackEvent",
    "httpRequest",
    "executeScript",
    "delay",
];

/// The fields that every action carries.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Common {
    #[serde(default)]
    conditions: Vec<Condition>,
    #[serde(default)]
    continue_on_error: bool,
}

/// The fields of [`Common`].
const COMMON: [&str; 2] = ["conditions", "continueOnError"];

// By hand, because serde's `flatten` cannot refuse unknown fields.
impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        let (common, own) = split(fields, &COMMON);
        let common: Common = serde_json::from_value(common).map_err(D::Error::custom)?;
        Ok(Self {
            kind: of_type(&own, &COMMON)?,
            conditions: common.conditions,
            continue_on_error: common.continue_on_error,
        })
    }
}

/// Reads the part of a type. An error that lists the fields that are known lists the common ones too.
pub(super) fn of_type<'de, T: Deserialize<'de>, E: de::Error>(
    own: &'de Value,
    common: &[&str],
) -> Result<T, E> {
    T::deserialize(own).map_err(|error| E::custom(naming(&error, own, common)))
}

/// Returns the message of an error, with the fields that are common to every type if it is about one beside them.
fn naming(error: &serde_json::Error, own: &Value, common: &[&str]) -> String {
    let text = error.to_string();
    let is_beside =
        |name: &str| text.strip_prefix("unknown field `").is_some_and(|rest| rest.starts_with(name));
    if !own.as_object().is_some_and(|fields| fields.keys().any(|name| is_beside(&format!("{name}`")))) {
        return text;
    }
    // The author's name comes first and may hold anything: the last match is serde's.
    let (unknown, own) = match text.rsplit_once(", expected ") {
        Some(parts) => parts,
        None => (text.strip_suffix(", there are no fields").unwrap_or(&text), ""),
    };
    let names = own.split('`').skip(1).step_by(2).chain(common.iter().copied());
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!("{unknown}, expected one of {}", names.join(", "))
}

/// `fields` as those named in `names` and the others.
pub(super) fn split(fields: Map<String, Value>, names: &[&str]) -> (Value, Value) {
    let (named, others): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(name, _)| names.contains(&name.as_str()));
    (Value::Object(named), Value::Object(others))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::definition::{Block, Input};

    fn refusal<T: serde::de::DeserializeOwned>(value: Value) -> String {
        serde_json::from_value::<T>(value).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn unknown_fields_name_all_that_are_known() {
        let block =
            |field: &str| json!({ "id": "a", "type": "content", "defaultOutput": { "end": true }, field: 1 });
        let of_block = "expected one of `contents`, `input`, `id`, `title`, `position`, `tagIds`, `onEnter`, \
                        `onLeave`, `outputConditions`, `defaultOutput`";
        assert_eq!(refusal::<Block>(block("onenter")), format!("unknown field `onenter`, {of_block}"));
        let odd = "a`, expected `b";
        assert_eq!(refusal::<Block>(block(odd)), format!("unknown field `{odd}`, {of_block}"));
        let input = json!({ "variable": "n", "validation": { "kind": "number", "retrytext": "x" } });
        let said = refusal::<Input>(input);
        assert!(said.starts_with("unknown field `retrytext`, expected one of `"), "{said}");
        assert!(said.ends_with(", `retryText`, `maxRetries`, `failTarget`"), "{said}");
        let action = json!({ "type": "executeScript", "script": "1", "continueonerror": true });
        let said = refusal::<Action>(action);
        assert!(said.ends_with(", `conditions`, `continueOnError`"), "{said}");
        // Inside of a part the common ones are none.
        let action = json!({ "type": "httpRequest", "method": "GET", "url": "https://a.example/",
            "response": [{ "path": "a", "varible": "a" }] });
        assert_eq!(refusal::<Action>(action), "unknown field `varible`, expected `path` or `variable`");
        // Other errors are told as they are.
        let missing = json!({ "type": "executeScript" });
        assert_eq!(refusal::<Action>(missing), "missing field `script`");
    }
}
