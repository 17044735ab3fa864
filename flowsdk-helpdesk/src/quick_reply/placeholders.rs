//! The placeholders of quick replies.

use std::borrow::Cow;

use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value};

use crate::placeholders::fill;

/// The values of placeholders.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The name of the contact: `{{contact.name}}`, unless a variable has this name.
    pub contact_name: &'a str,
    /// The number of the contact: `{{contact.phoneNumber}}`, unless a variable has this name.
    pub contact_number: &'a str,
    /// The variables of the contact: `{{contact.<name>}}`.
    pub contact_variables: &'a Map<String, Value>,
    /// The variables of the flow that handed over: `{{context.<name>}}`.
    pub context: &'a Map<String, Value>,
    /// The time: `{{system.now}}`, as ISO 8601.
    pub now: Timestamp,
}

/// Returns a text with the values of its placeholders. One without a value stays as it is.
pub fn resolve(text: &str, known: Known<'_>) -> String {
    fill(text, |key| known.value(key))
}

impl<'a> Known<'a> {
    fn value(self, key: &str) -> Option<Cow<'a, str>> {
        if key == "system.now" {
            return Some(self.now.to_iso().into());
        }
        if let Some(name) = key.strip_prefix("context.") {
            return self.context.get(name).and_then(shown);
        }
        let name = key.strip_prefix("contact.")?;
        self.contact_variables.get(name).and_then(shown).or_else(|| match name {
            "name" => said(self.contact_name),
            "phoneNumber" => said(self.contact_number),
            _ => None,
        })
    }
}

fn said(text: &str) -> Option<Cow<'_, str>> {
    (!text.is_empty()).then_some(Cow::Borrowed(text))
}

fn shown(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => said(text),
        other => Some(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn resolved(text: &str) -> String {
        let variables =
            json!({ "plan": "gold", "age": 7, "vip": true, "tags": ["a"], "gone": null, "empty": "" });
        let context = json!({ "order": "A-7", "nested": "{{contact.plan}}" });
        let known = Known {
            contact_name: "Ana",
            contact_number: "5511987654321",
            contact_variables: variables.as_object().expect("an object"),
            context: context.as_object().expect("an object"),
            now: Timestamp::from_millis(1_795_085_820_050),
        };
        resolve(text, known)
    }

    #[test]
    fn placeholders_are_replaced_by_their_values() {
        for (text, expected) in [
            ("Hello {{contact.name}}!", "Hello Ana!"),
            ("{{contact.plan}} {{ contact.age }} {{contact.vip}} {{contact.tags}}", r#"gold 7 true ["a"]"#),
            ("{{contact.phoneNumber}}", "5511987654321"),
            ("order {{context.order}}", "order A-7"),
            ("{{system.now}}", "2026-11-19T10:57:00.050Z"),
            ("{{context.nested}}", "{{contact.plan}}"),
        ] {
            assert_eq!(resolved(text), expected, "{text}");
        }
    }

    #[test]
    fn a_placeholder_without_a_value_stays() {
        for text in [
            "",
            "plain",
            "{{contact.nothing}}",
            "{{contact.gone}}",
            "{{contact.empty}}",
            "{{context.plan}}",
            "{{system.later}}",
            "{{contact}}",
            "{{}}",
            "{{ unclosed",
            "}} {{",
            "{contact.name}",
        ] {
            assert_eq!(resolved(text), text);
        }
    }

    proptest! {
        /// A text without placeholders stays as it is, whatever braces it has.
        #[test]
        fn other_texts_stay(text in "[a-z {}\u{e9}]{0,40}") {
            prop_assert_eq!(resolved(&text), text);
        }
    }
}
