//! Questions of interactive forms: whatever comes is opened or refused without a panic, and what another key has sealed is
//! never read. The corpus is `flowsdk-crypto/tests/fixtures`.
#![no_main]

use std::sync::LazyLock;

use flowsdk_channels::form::exchange::{FormAnswer, FormQuestion};
use flowsdk_crypto::{FormKey, SealedQuestion};
use libfuzzer_sys::fuzz_target;
use secrecy::SecretString;
use serde_json::{Map, Value};

static KEY: LazyLock<FormKey> = LazyLock::new(|| {
    let known: Value = serde_json::from_str(include_str!(
        "../../flowsdk-crypto/tests/fixtures/form_exchanges.json"
    ))
    .expect("JSON");
    let secret = |name: &str| SecretString::from(known[name].as_str().expect("a text"));
    FormKey::open(&secret("private_key_pem_pkcs8_encrypted"), &secret("passphrase")).expect("a key")
});

fuzz_target!(|body: &[u8]| {
    if let Ok(sealed) = serde_json::from_slice::<SealedQuestion>(body)
        && let Ok((clear, exchange)) = sealed.open(&KEY)
    {
        let answer = exchange.seal_answer(&clear).expect("it is short");
        assert_eq!(exchange.open_answer(&answer).as_deref(), Ok(&*clear));
        read(&clear);
    }
    read(body);
});

/// Reads a clear question, and answers it with its own data.
fn read(clear: &[u8]) {
    let Some(FormQuestion::Screen(question)) = FormQuestion::read(clear) else { return };
    let returns: Map<String, Value> = question.data.clone();
    if let Some(answer) = FormAnswer::of(&question, returns) {
        assert!(answer.to_json()["screen"].is_string());
    }
}
