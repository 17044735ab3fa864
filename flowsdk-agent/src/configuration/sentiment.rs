//! How a router wants sentiments to be found.

use serde::Deserialize;
use serde_json::Value;

/// What a router's `sentimentConfig` asks for (spec B 4.9):
/// `{ "enabled": true, "perRound": { "enabled": true, "minMessageLength": 10 } }`. What is not understood asks for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentimentSettings {
    /// Whether the agent judges the contact in each turn.
    pub notes_each_turn: bool,
    /// Characters that the contact's last message has at least to be judged.
    pub min_message_length: usize,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Config {
    enabled: bool,
    per_round: PerRound,
    min_message_length: usize,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PerRound {
    enabled: bool,
    min_message_length: Option<usize>,
}

impl SentimentSettings {
    /// Reads the setting of a router. The spec does not say where `minMessageLength` stands: both places are read.
    pub fn of(config: Option<&Value>) -> Self {
        let Some(config) = config else { return Self::default() };
        let Config { enabled, per_round, min_message_length } =
            Config::deserialize(config).unwrap_or_default();
        Self {
            notes_each_turn: enabled && per_round.enabled,
            min_message_length: per_round.min_message_length.unwrap_or(min_message_length),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_turn_is_judged_where_both_switches_are_on() {
        for (config, notes_each_turn, min_message_length) in [
            (json!(null), false, 0),
            (json!({}), false, 0),
            (json!({ "enabled": true }), false, 0),
            (json!({ "perRound": { "enabled": true } }), false, 0),
            (json!({ "enabled": true, "perRound": { "enabled": true } }), true, 0),
            (json!({ "enabled": true, "minMessageLength": 5, "perRound": { "enabled": true } }), true, 5),
            (
                json!({ "enabled": true, "minMessageLength": 5, "perRound": { "enabled": true, "minMessageLength": 9 } }),
                true,
                9,
            ),
            (json!({ "enabled": "yes", "perRound": [] }), false, 0),
        ] {
            let expected = SentimentSettings { notes_each_turn, min_message_length };
            assert_eq!(SentimentSettings::of(Some(&config)), expected, "{config}");
        }
        assert_eq!(SentimentSettings::of(None), SentimentSettings::default());
    }
}
