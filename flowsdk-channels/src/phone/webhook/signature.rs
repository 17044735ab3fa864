//! The signature of a delivery: HMAC-SHA256 with the secret of the app over the bytes of the body, as they came.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "x-hub-signature-256";

const SCHEME: &str = "sha256=";

/// Returns the signature of `body` with the secret of the app, as the header has it.
pub fn sign(secret: &SecretString, body: &[u8]) -> String {
    let digest = mac(secret, body).finalize().into_bytes();
    format!("{SCHEME}{}", hex::encode(digest))
}

/// Returns whether `header` is the signature of `body` with the secret of the app. The hexadecimal digits are lower
/// case, as the provider writes them. The comparison takes the same time for every wrong signature.
pub fn is_signed(secret: &SecretString, header: &str, body: &[u8]) -> bool {
    let Some(digits) = header.strip_prefix(SCHEME) else { return false };
    if digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    let Ok(signature) = hex::decode(digits) else { return false };
    mac(secret, body).verify_slice(&signature).is_ok()
}

#[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn mac(secret: &SecretString, body: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).expect("a key of any length");
    mac.update(body);
    mac
}
