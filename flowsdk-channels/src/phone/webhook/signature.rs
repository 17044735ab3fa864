//! The signature of a delivery: HMAC-SHA256 with the secret of the app over the bytes of the body, as they came.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "x-hub-signature-256";

const SCHEME: &str = "sha256=";

/// Returns the signature of `body` with the secret of the app, as the header has it.
pub fn sign(secret: &SecretString, body: &[u8]) -> String {
    format!("{SCHEME}{}", keyed_digest(secret, body))
}

/// Returns the HMAC-SHA256 of `bytes` with the secret of the app, in hexadecimal digits.
pub fn keyed_digest(secret: &SecretString, bytes: &[u8]) -> String {
    hex::encode(mac(secret, bytes).finalize().into_bytes())
}

/// A signature that came with a body: `sha256=` and 64 hexadecimal digits in lower case, as the provider writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 32]);

impl Signature {
    /// Reads the value of the header; `None` of one that has another form.
    pub fn parse(header: &str) -> Option<Self> {
        let digits = header.strip_prefix(SCHEME)?;
        let mut signature = [0; 32];
        let is_read = hex::decode_to_slice(digits, &mut signature).is_ok();
        (is_read && !digits.bytes().any(|byte| byte.is_ascii_uppercase())).then_some(Self(signature))
    }

    /// Returns whether it is that of `body` with the secret of the app. The comparison takes the same time for every wrong
    /// signature.
    pub fn is_of(&self, secret: &SecretString, body: &[u8]) -> bool {
        mac(secret, body).verify_slice(&self.0).is_ok()
    }
}

#[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn mac(secret: &SecretString, body: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).expect("a key of any length");
    mac.update(body);
    mac
}
