//! The rules.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most bytes of a compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;

/// The rules of a scripted model. The first rule that holds answers; without one the answer is empty.
///
/// ```
/// use flowsdk_agent::scripted::Script;
///
/// let script = Script::parse(r#"{ "rules": [
///     { "when": { "input": "opening hours" }, "calls": [{ "tool": "ragSearch", "arguments": { "query": "opening hours" } }] },
///     { "when": { "after": "ragSearch" }, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "{{result}}" } }] },
///     { "when": { "input": "my name is (\\w+)" }, "calls": [{ "tool": "setVariable", "arguments": { "key": "name", "value": "{{1}}" } }] }
/// ] }"#)?;
/// assert_eq!(script.rules.len(), 3);
/// # Ok::<(), flowsdk_agent::scripted::InvalidScript>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The rules, the most important one first.
    pub rules: Vec<Rule>,
    /// What is said in every recording. Without it recordings are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hears: Option<String>,
}

/// One rule.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// When it holds.
    #[serde(default)]
    pub when: When,
    /// A text of the model beside its calls. Contacts do not see it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The calls of tools. In texts of their arguments `{{1}}` is the first group of the pattern of `input`, `{{0}}` all that it
    /// found, and `{{result}}` the result of the tool in `after`. `{{result.1}}` is the first group of the pattern of `result`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptedCall>,
    /// How the provider fails instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// When a rule holds: all that is given has to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// A pattern that the last input has. Whether letters are large does not matter. Without `after` the rule is for the
    /// first answer to the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Pattern>,
    /// A tool that the model has called last: the rule is for the answer to its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// A pattern that the result of the tool in `after` has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Pattern>,
    /// A pattern that the instructions have, to tell agents apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Pattern>,
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: BTreeMap<String, Value>,
}

/// How the provider fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It is busy.
    Unavailable,
    /// The account is not in order.
    Account,
    /// It refuses the request.
    Refused,
}

/// A regular expression that runs in linear time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(Regex);

impl Pattern {
    /// Returns what it finds in a text: all of it, and then each group.
    pub(super) fn find(&self, text: &str) -> Option<Vec<String>> {
        let found = self.0.captures(text)?;
        Some(
            found
                .iter()
                .map(|group| group.map_or_else(String::new, |group| group.as_str().to_owned()))
                .collect(),
        )
    }
}

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, regex::Error> {
        RegexBuilder::new(&text).case_insensitive(true).size_limit(PATTERN_SIZE).build().map(Self)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

/// A script that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the script cannot be read: {0}")]
pub struct InvalidScript(#[from] serde_json::Error);

impl Script {
    /// Reads a script of JSON.
    ///
    /// # Errors
    /// [`InvalidScript`] names the place.
    pub fn parse(text: &str) -> Result<Self, InvalidScript> {
        Ok(serde_json::from_str(text)?)
    }
}
