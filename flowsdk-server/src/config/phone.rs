//! `PHONE_*`.

use super::Environment;

/// Settings of the phone channel.
#[derive(Debug, Clone, Copy)]
pub struct PhoneSettings {
    /// `PHONE_LOOKUPS_PER_MINUTE`: unknown business accounts and verify tokens that a place may name.
    pub lookups_per_minute: u32,
}

/// Reads the settings, with defaults.
pub(super) fn phone(env: &mut Environment<'_>) -> PhoneSettings {
    PhoneSettings { lookups_per_minute: env.number("PHONE_LOOKUPS_PER_MINUTE", 600, 0..=1_000_000) }
}
