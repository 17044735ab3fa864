//! Conditions (spec B 2.4; sources and comparators of the flow format).

use serde::{Deserialize, Serialize};

/// `{ source, comparator, values }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The value to test.
    pub source: ConditionSource,
    /// How it is compared.
    pub comparator: Comparator,
    /// The values to compare with, each an interpolated text. Any that matches is enough; for a negated comparator
    /// none may match.
    #[serde(default)]
    pub values: Vec<ConditionValue>,
}

/// One item of `values`: a text, or a number or truth value that is read as its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RawValue", into = "String")]
pub struct ConditionValue(pub String);

#[derive(Deserialize)]
#[serde(untagged)]
enum RawValue {
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
}

impl From<RawValue> for ConditionValue {
    fn from(raw: RawValue) -> Self {
        Self(match raw {
            RawValue::Text(text) => text,
            RawValue::Number(number) => number.to_string(),
            RawValue::Bool(truth) => truth.to_string(),
        })
    }
}

impl From<ConditionValue> for String {
    fn from(value: ConditionValue) -> Self {
        value.0
    }
}

/// The value that a condition tests, discriminated by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum ConditionSource {
    /// The current input; for an interactive reply its id and its title.
    Input {},
    /// A session variable, by dotted path.
    Context {
        /// The dotted path below the variables of the session.
        key: String,
    },
    /// A contact variable, by dotted path.
    Contact {
        /// The dotted path below the variables of the contact.
        key: String,
    },
    /// A text of the author, interpolated.
    Static {
        /// The text before interpolation.
        value: String,
    },
    /// The moment of execution.
    System {
        /// Which view of it.
        key: SystemKey,
    },
}

/// A view of the moment of execution; weekday and time are the router's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SystemKey {
    /// ISO 8601 with milliseconds, in UTC.
    Now,
    /// 0 (Sunday) to 6 (Saturday).
    Weekday,
    /// `HH:MM`.
    Time,
}

/// How a source is compared with `values`. Text is compared trimmed and without regard to case and
/// accents; numbers, dates and times of day as such when both sides are some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Comparator {
    /// The texts are the same.
    Equals,
    /// The same, character by character.
    EqualsExact,
    /// The same as none of `values`.
    NotEquals,
    /// Contains one of `values`.
    Contains,
    /// Contains none of `values`.
    NotContains,
    /// Starts with one of `values`.
    StartsWith,
    /// Ends with one of `values`.
    EndsWith,
    /// One of `values`, a regular expression, is found in it.
    Matches,
    /// More than one of `values`.
    GreaterThan,
    /// Less than one of `values`.
    LessThan,
    /// At least one of `values`.
    GreaterOrEqual,
    /// At most one of `values`.
    LessOrEqual,
    /// One of `values`.
    In,
    /// Present and not empty.
    Exists,
    /// Absent or empty.
    NotExists,
}

impl Comparator {
    /// Returns whether it looks at `values`.
    pub const fn takes_values(self) -> bool {
        !matches!(self, Self::Exists | Self::NotExists)
    }
}
