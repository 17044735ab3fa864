//! How a router wants sentiments to be judged on demand.

use serde::Deserialize;
use serde_json::Value;

/// What a router's `sentimentConfig` asks for:
/// `{ "enabled": true, "onDemand": { "enabled": true, "model": "gpt-5-mini" } }`. What is not understood asks for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OnDemandSettings {
    /// Whether sentiments are judged on demand.
    #[serde(default)]
    enabled: bool,
    /// The provider's name of the model.
    pub model: String,
}

impl OnDemandSettings {
    /// Reads the setting of a router; `None` where it asks for no sentiments on demand.
    pub fn of(config: Option<&Value>) -> Option<Self> {
        let config = config.filter(|config| config["enabled"] == true)?;
        let settings = Self::deserialize(config.get("onDemand")?).ok()?;
        (settings.enabled && !settings.model.trim().is_empty()).then_some(settings)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_switches_are_on_and_a_model_is_named() {
        let on = json!({ "enabled": true, "onDemand": { "enabled": true, "model": "m" } });
        assert_eq!(OnDemandSettings::of(Some(&on)).map(|settings| settings.model), Some("m".to_owned()));
        for off in [
            json!(null),
            json!([]),
            json!({ "enabled": true }),
            json!({ "enabled": true, "onDemand": true }),
            json!({ "enabled": true, "onDemand": { "model": "m" } }),
            json!({ "enabled": true, "onDemand": { "enabled": true } }),
            json!({ "enabled": true, "onDemand": { "enabled": true, "model": " " } }),
            json!({ "onDemand": { "enabled": true, "model": "m" } }),
        ] {
            assert_eq!(OnDemandSettings::of(Some(&off)), None, "{off}");
        }
        assert_eq!(OnDemandSettings::of(None), None);
    }
}
