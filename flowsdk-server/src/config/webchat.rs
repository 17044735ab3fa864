//! `WEBCHAT_*`, and the settings of every connection.

use flowsdk_channels::webchat::LimitsConfig;

use super::Environment;
use crate::socket::HandshakeLimits;

/// Settings of the web chat and of connections.
#[derive(Debug, Clone, Copy)]
pub struct WebchatSettings {
    /// Rate limits of visitors and addresses.
    pub limits: LimitsConfig,
    /// Sessions that are opened and not let in yet.
    pub handshakes: HandshakeLimits,
    /// `MAX_CONNECTIONS`: open connections of any kind.
    pub max_connections: u32,
    /// `TRUSTED_PROXIES`: how many proxies stand before the server and add to `X-Forwarded-For`.
    pub trusted_proxies: u32,
}

/// Reads the settings, with defaults.
pub(super) fn webchat(env: &mut Environment<'_>) -> WebchatSettings {
    let defaults = LimitsConfig::default();
    let mut limit = |name: &str, default: u32, most: u32| env.number(name, default, 0..=most);
    let limits = LimitsConfig {
        new_visits_per_minute: limit(
            "WEBCHAT_NEW_VISITS_PER_MINUTE",
            defaults.new_visits_per_minute,
            1_000_000,
        ),
        key_checks_per_minute: limit(
            "WEBCHAT_KEY_CHECKS_PER_MINUTE",
            defaults.key_checks_per_minute,
            1_000_000,
        ),
        messages_per_second: limit("WEBCHAT_MESSAGES_PER_SECOND", defaults.messages_per_second, 100_000),
        uploads_per_minute: limit("WEBCHAT_UPLOADS_PER_MINUTE", defaults.uploads_per_minute, 1_000_000),
        upload_mib_per_hour: limit("WEBCHAT_UPLOAD_MIB_PER_HOUR", defaults.upload_mib_per_hour, 1_000_000),
        sockets_per_visitor: limit("WEBCHAT_SOCKETS_PER_VISITOR", defaults.sockets_per_visitor, 100_000),
    };
    let defaults = HandshakeLimits::default();
    let handshakes = HandshakeLimits {
        per_address: limit("WEBCHAT_HANDSHAKES_PER_ADDRESS", defaults.per_address, 1_000_000),
        in_all: limit("WEBCHAT_HANDSHAKES", defaults.in_all, 1_000_000),
    };
    WebchatSettings {
        limits,
        handshakes,
        max_connections: env.number("MAX_CONNECTIONS", 20_000, 1..=1_000_000),
        trusted_proxies: env.number("TRUSTED_PROXIES", 0, 0..=16),
    }
}
