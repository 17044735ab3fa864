//! `CRYPTO_SECRET` and the key before it.

use flowsdk_core::crypto::MasterKey;
use secrecy::ExposeSecret as _;

use super::Environment;

/// A key that stands in while the problems are gathered; it never leaves [`Config::read`](super::Config::read).
const PLACEHOLDER: &str = "00000000000000000000000000000000";

/// Reads the present and the previous secret.
pub(super) fn master_key(env: &mut Environment<'_>) -> MasterKey {
    let secret = env.secret("CRYPTO_SECRET");
    let mut key = None;
    if !secret.expose_secret().is_empty() {
        key =
            MasterKey::new(secret.expose_secret()).map_err(|error| env.problem("CRYPTO_SECRET", error)).ok();
    }
    #[allow(clippy::expect_used, reason = "the placeholder has 32 bytes")]
    let key = key.unwrap_or_else(|| MasterKey::new(PLACEHOLDER).expect("32 bytes"));
    match env.text("CRYPTO_SECRET_PREVIOUS") {
        None => key,
        Some(previous) => key.with_previous(&previous).unwrap_or_else(|error| {
            env.problem("CRYPTO_SECRET_PREVIOUS", error);
            #[allow(clippy::expect_used, reason = "the placeholder has 32 bytes")]
            MasterKey::new(PLACEHOLDER).expect("32 bytes")
        }),
    }
}
