//! How a router wants its summaries.

use serde::Deserialize;
use serde_json::Value;

/// Most tokens of a summary, where the router does not say.
const DEFAULT_TOKENS: u32 = 600;

/// What a router's `copilotConfig` asks for: `{ "summary": { "enabled": true, "model": "gpt-5-mini" } }`, with
/// `instructions` and `maxOutputTokens` where the usual ones do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummarySettings {
    /// Whether summaries are written.
    #[serde(default)]
    enabled: bool,
    /// The provider's name of the model.
    pub model: String,
    /// What the model is told to write instead of the usual instructions.
    #[serde(default)]
    pub instructions: Option<String>,
    /// Most tokens of a summary.
    #[serde(default = "default_tokens")]
    pub max_output_tokens: u32,
}

fn default_tokens() -> u32 {
    DEFAULT_TOKENS
}

impl SummarySettings {
    /// Reads the setting of a router; `None` where it asks for no summaries, or cannot be understood.
    pub fn of(copilot: Option<&Value>) -> Option<Self> {
        let settings = Self::deserialize(copilot?.get("summary")?);
        settings.ok().filter(|settings| settings.enabled && !settings.model.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn summaries_are_written_where_the_router_names_a_model() {
        let read = |config: Value| SummarySettings::of(Some(&config));
        let settings = read(json!({ "summary": { "enabled": true, "model": "m" } })).expect("settings");
        assert_eq!((settings.model.as_str(), settings.max_output_tokens), ("m", DEFAULT_TOKENS));
        let own = json!({ "summary": { "enabled": true, "model": "m", "instructions": "Briefly.", "maxOutputTokens": 50 } });
        let own = read(own).expect("settings");
        assert_eq!((own.instructions.as_deref(), own.max_output_tokens), (Some("Briefly."), 50));
        for nothing in [
            json!(null),
            json!({}),
            json!({ "summary": { "model": "m" } }),
            json!({ "summary": { "enabled": true } }),
            json!({ "summary": { "enabled": true, "model": " " } }),
            json!({ "summary": { "enabled": "yes", "model": "m" } }),
        ] {
            assert_eq!(read(nothing.clone()), None, "{nothing}");
        }
        assert_eq!(SummarySettings::of(None), None);
    }
}
