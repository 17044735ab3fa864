//! `PHONE_*`.

use reqwest::Url;

use super::Environment;

/// The provider's API, with the version that the adapter is written for.
const API_URL: &str = "https://graph.facebook.com/v24.0";

/// Settings of the phone channel.
#[derive(Debug, Clone)]
pub struct PhoneSettings {
    /// `PHONE_LOOKUPS_PER_MINUTE`: unknown business accounts and verify tokens that a place may name.
    pub lookups_per_minute: u32,
    /// `PHONE_API_URL`: where the provider is called, with the version.
    pub api_url: Url,
}

/// Reads the settings, with defaults.
pub(super) fn phone(env: &mut Environment<'_>) -> PhoneSettings {
    let text = env.text("PHONE_API_URL").unwrap_or_else(|| API_URL.to_owned());
    let url = Url::parse(&text).ok();
    let api_url = url.filter(|url| matches!(url.scheme(), "https" | "http") && url.query().is_none());
    if api_url.is_none() {
        env.problem("PHONE_API_URL", "must be an http or https URL without a query");
    }
    PhoneSettings {
        lookups_per_minute: env.number("PHONE_LOOKUPS_PER_MINUTE", 600, 0..=1_000_000),
        api_url: api_url.unwrap_or_else(|| Url::parse(API_URL).expect("a URL")),
    }
}
