//! `PHONE_*`.

use flowsdk_channels::phone::graph::{API_VERSION, MediaHosts};
use reqwest::Url;

use super::Environment;

/// Where the provider's API is, below which its versions are.
const API: &str = "https://graph.facebook.com";

/// Settings of the phone channel.
#[derive(Debug, Clone)]
pub struct PhoneSettings {
    /// `PHONE_LOOKUPS_PER_MINUTE`: unknown business accounts and verify tokens that a place may name.
    pub lookups_per_minute: u32,
    /// `PHONE_API_URL`: where the provider is called, with the version.
    pub api_url: Url,
    /// `PHONE_MEDIA_HOSTS`: hosts of the provider at which files of contacts are.
    pub media_hosts: MediaHosts,
}

/// Reads the settings, with defaults.
pub(super) fn phone(env: &mut Environment<'_>) -> PhoneSettings {
    let default = format!("{API}/{API_VERSION}");
    let text = env.text("PHONE_API_URL").unwrap_or_else(|| default.clone());
    let url = Url::parse(&text).ok();
    let api_url = url.filter(|url| matches!(url.scheme(), "https" | "http") && url.query().is_none());
    if api_url.is_none() {
        env.problem("PHONE_API_URL", "must be an http or https URL without a query");
    }
    PhoneSettings {
        lookups_per_minute: env.number("PHONE_LOOKUPS_PER_MINUTE", 600, 0..=1_000_000),
        api_url: api_url.unwrap_or_else(|| Url::parse(&default).expect("a URL")),
        media_hosts: env.parsed("PHONE_MEDIA_HOSTS").unwrap_or_default(),
    }
}
