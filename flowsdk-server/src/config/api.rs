//! `API_*`, `REFRESH_ROTATION`, `BCRYPT_COST`, the limits of logins, recoveries and strangers, `AUDIT_LOG_RETENTION_DAYS`,
//! `TRACE_RETENTION_DAYS`.

use std::time::Duration;

use flowsdk_auth::login::{LoginLimits, LoginSettings, Rotation};
use flowsdk_crypto::PASSWORD_COST;

use super::Environment;
use crate::api::limits::RequestRate;

/// Most that a limit can be set to.
const MOST: u32 = 1_000_000;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits and retention of the administrative API.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// `API_REQUESTS_PER_SECOND`, `API_BURST`.
    pub rate: RequestRate,
    /// `REFRESH_ROTATION`, `BCRYPT_COST`, `LOGIN_*`, `RECOVERIES_PER_EMAIL`, `REFRESHES_*`.
    pub login: LoginSettings,
    /// `REFUSALS_PER_ADDRESS`: refused requests for files and of forms that a network address may make in a minute.
    pub refusals_per_address: u32,
    /// `AUDIT_LOG_RETENTION_DAYS`.
    pub audit_retention: Duration,
    /// `TRACE_RETENTION_DAYS`.
    pub trace_retention: Duration,
}

/// Reads `BCRYPT_COST`.
pub(super) fn password_cost(env: &mut Environment<'_>) -> u32 {
    env.number("BCRYPT_COST", PASSWORD_COST, 8..=14)
}

/// Reads the settings, with defaults.
pub(super) fn api(env: &mut Environment<'_>) -> ApiSettings {
    let rotation = match env.text("REFRESH_ROTATION").as_deref() {
        None | Some("free") => Rotation::Free,
        Some("strict") => Rotation::Strict,
        Some(_) => {
            env.problem("REFRESH_ROTATION", "must be free or strict");
            Rotation::Free
        }
    };
    let limits = LoginLimits {
        failures_per_email: env.number("LOGIN_FAILURES_PER_MINUTE", 10, 0..=MOST),
        failures_per_address: env.number("LOGIN_FAILURES_PER_ADDRESS", 100, 0..=MOST),
        recoveries_per_email: env.number("RECOVERIES_PER_EMAIL", 3, 0..=MOST),
        refreshes_per_user: env.number("REFRESHES_PER_USER", 60, 0..=MOST),
        refreshes_per_address: env.number("REFRESHES_PER_ADDRESS", 600, 0..=MOST),
    };
    let password_cost = password_cost(env);
    ApiSettings {
        rate: RequestRate {
            per_second: env.number("API_REQUESTS_PER_SECOND", 50, 0..=MOST),
            burst: env.number("API_BURST", 100, 0..=MOST),
        },
        login: LoginSettings { rotation, password_cost, limits },
        refusals_per_address: env.number("REFUSALS_PER_ADDRESS", 600, 0..=MOST),
        audit_retention: DAY * env.number("AUDIT_LOG_RETENTION_DAYS", 90, 1..=36_500),
        trace_retention: DAY * env.number("TRACE_RETENTION_DAYS", 30, 1..=36_500),
    }
}
