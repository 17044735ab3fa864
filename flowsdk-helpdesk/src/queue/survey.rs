//! What contacts are asked when a person has resolved their ticket.

use flowsdk_core::schema::SchemaAttributes;
use serde::{Deserialize, Serialize};

/// The question of a queue whether its contacts are satisfied. They answer with a number from 1 to 5.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Survey {
    /// The question. It is said once more to whoever answers something else.
    #[schema(
        min_length = 1,
        max_length = 1_024,
        pattern = r"\S",
        example = "How did we do? Answer with a number from 1 (bad) to 5 (great)."
    )]
    pub question: String,
    /// Asks for a comment after the number; absent or null asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1_024, pattern = r"\S", example = "What could we do better?")]
    pub comment_question: Option<String>,
    /// Said when the survey is answered; absent or null is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1_024, pattern = r"\S", example = "Thank you!")]
    pub thanks: Option<String>,
    /// How many minutes the contact has for each answer. The flow goes on when they are over.
    #[serde(default = "default_time")]
    #[schema(required = false, minimum = 1, maximum = 1_440, example = 60)]
    pub within_minutes: u32,
}

/// Within the window in which the phone channel allows messages.
fn default_time() -> u32 {
    60
}
