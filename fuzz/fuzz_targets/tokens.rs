//! Tokens of strangers: none panics, and none that we did not sign is good.
#![no_main]

use flowsdk_channels::webchat::embed;
use flowsdk_core::time::Timestamp;
use flowsdk_crypto::JwtKey;
use libfuzzer_sys::fuzz_target;
use secrecy::SecretString;
use serde_json::Value;

fuzz_target!(|token: &str| {
    let secret = SecretString::from("a secret that no input holds: 7c1f9d20");
    let now = Timestamp::from_millis(1_795_000_000_000);
    assert!(JwtKey::new(&secret).verify::<Value>(token, now).is_err(), "a forged token is good");
    assert!(embed::verify(token, &secret, now).is_err(), "a forged embed token is good");
});
