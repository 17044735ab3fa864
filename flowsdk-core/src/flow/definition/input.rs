//! The input of a block and the validation of answers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Map;

use super::Target;
use super::action::{of_type, split};

/// A block with input waits for the contact.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Input {
    /// The session variable that takes the answer. The title of a tapped button or row goes to
    /// `<variable>_title`, a file to `<variable>_media`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// How long to wait, in milliseconds; without it the flow's `inputTimeoutMs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Where to go when nobody answers; without it the session ends (rulings S7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_target: Option<Target>,
    /// The rule for a valid answer; without it every answer is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
}

/// The rule for a valid answer, and the reaction to an invalid one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// The rule, and the settings of its `kind`.
    #[serde(flatten)]
    pub kind: ValidationKind,
    /// The text that a wrong answer receives, interpolated; without it nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_text: Option<String>,
    /// How many wrong answers are allowed; `None` is any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Where one wrong answer too many leads; without it the default output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_target: Option<Target>,
}

/// The rule, discriminated by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ValidationKind {
    /// A text that is not blank.
    Text {
        /// Fewest characters of a valid answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<usize>,
        /// Most characters of a valid answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<usize>,
    },
    /// A number, with a point or a comma before its decimals.
    Number {
        /// The least valid number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// The greatest valid number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
        /// Whether decimals are refused.
        #[serde(default)]
        integer: bool,
    },
    /// An e-mail address, in its usual form.
    Email {},
    /// A date, `2026-11-20` or `20/11/2026`; stored in the first form.
    Date {},
    /// A telephone number of 8 to 15 digits; stored without spaces and signs.
    Phone {},
    /// One of the listed texts; stored as it is listed.
    Options {
        /// The texts: a typed answer, the id of a reply or its title matches.
        options: Vec<String>,
    },
    /// All of the answer matches.
    Regex {
        /// A regular expression that all of the answer has to match.
        pattern: String,
    },
}

/// The fields that every validation carries.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Common {
    #[serde(default)]
    retry_text: Option<String>,
    #[serde(default)]
    max_retries: Option<u32>,
    #[serde(default)]
    fail_target: Option<Target>,
}

/// The fields of [`Common`].
const COMMON: [&str; 3] = ["retryText", "maxRetries", "failTarget"];

// By hand, because serde's `flatten` cannot refuse unknown fields.
impl<'de> Deserialize<'de> for Validation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        let (common, own) = split(fields, &COMMON);
        let common: Common = serde_json::from_value(common).map_err(D::Error::custom)?;
        Ok(Self {
            kind: of_type(&own, &COMMON)?,
            retry_text: common.retry_text,
            max_retries: common.max_retries,
            fail_target: common.fail_target,
        })
    }
}
