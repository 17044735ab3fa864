//! What is expected of an answer.

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::scene::{Called, Scene};

/// What is expected until the customer writes again.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    /// These tools are called in this order, perhaps with others in between.
    #[serde(default)]
    calls: Vec<ExpectedCall>,
    /// A message has each of these texts.
    #[serde(default)]
    contains: Vec<String>,
    /// A message fits each of these patterns.
    #[serde(default)]
    matches: Vec<Pattern>,
    /// No message has any of these texts.
    #[serde(default)]
    not: Vec<String>,
}

impl Expectation {
    /// Returns what of it is not met.
    pub(super) fn failures(&self, scene: &Scene) -> Vec<String> {
        let mut failures = Vec::new();
        let mut called = scene.calls.iter();
        for expected in &self.calls {
            if !called.any(|call| expected.is_met_by(call)) {
                let made: Vec<String> = scene.calls.iter().map(Called::to_string).collect();
                failures
                    .push(format!("calls: expected {expected}, in this order; called: {}", listed(&made)));
                break;
            }
        }
        let said = |fits: &dyn Fn(&str) -> bool| scene.texts.iter().any(|text| fits(text));
        let told = || listed(&scene.texts);
        for wanted in self.contains.iter().filter(|wanted| !said(&|text| text.contains(wanted.as_str()))) {
            failures.push(format!("contains: expected {wanted:?}; told: {}", told()));
        }
        for wanted in self.matches.iter().filter(|wanted| !said(&|text| wanted.0.is_match(text))) {
            failures.push(format!("matches: expected /{}/; told: {}", wanted.0, told()));
        }
        for unwanted in self.not.iter().filter(|unwanted| said(&|text| text.contains(unwanted.as_str()))) {
            failures.push(format!("not: {unwanted:?} was not to be told; told: {}", told()));
        }
        failures
    }
}

fn listed(texts: &[String]) -> String {
    if texts.is_empty() {
        return "nothing".to_owned();
    }
    texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
}

/// A call that is expected: the name of a tool, or that with some of its arguments.
#[derive(Debug, Clone)]
struct ExpectedCall {
    tool: String,
    arguments: BTreeMap<String, Value>,
}

/// The form with arguments.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithArguments {
    tool: String,
    #[serde(default)]
    arguments: BTreeMap<String, Value>,
}

impl ExpectedCall {
    fn is_met_by(&self, call: &Called) -> bool {
        call.tool == self.tool
            && self.arguments.iter().all(|(name, value)| call.arguments.get(name) == Some(value))
    }
}

impl fmt::Display for ExpectedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        if self.arguments.is_empty() {
            return Ok(());
        }
        write!(f, " {}", serde_json::to_string(&self.arguments).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for ExpectedCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallVisitor;

        impl<'de> Visitor<'de> for CallVisitor {
            type Value = ExpectedCall;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a tool, or `tool` and `arguments`")
            }

            fn visit_str<E: serde::de::Error>(self, tool: &str) -> Result<ExpectedCall, E> {
                Ok(ExpectedCall { tool: tool.to_owned(), arguments: BTreeMap::new() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectedCall, A::Error> {
                let WithArguments { tool, arguments } =
                    WithArguments::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ExpectedCall { tool, arguments })
            }
        }

        deserializer.deserialize_any(CallVisitor)
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
struct Pattern(Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(D::Error::custom)
    }
}
