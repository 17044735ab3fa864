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

/// Returns whether a text has the form of a signature: `sha256=` and 64 hexadecimal digits in lower case, as the provider
/// writes them.
pub fn is_signature(header: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    header.strip_prefix(SCHEME).is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}

/// Returns whether `header` is the signature of `body` with the secret of the app. The comparison takes the same time for
/// every wrong signature.
pub fn is_signed(secret: &SecretString, header: &str, body: &[u8]) -> bool {
    let digits = header.strip_prefix(SCHEME).filter(|_| is_signature(header));
    let Some(Ok(signature)) = digits.map(hex::decode) else { return false };
    mac(secret, body).verify_slice(&signature).is_ok()
}

#[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn mac(secret: &SecretString, body: &[u8]) -> Hmac<Sha256> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).expect("a key of any length");
    mac.update(body);
    mac
}
