//! Settings that all processes on one database have to have in common.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use super::{Administration, Environment};

/// A setting as it is compared: a number as it is, a secret by a fingerprint that does not tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// The name of the setting.
    pub name: &'static str,
    /// Its value, or the fingerprint of it.
    pub value: String,
    /// The fingerprint of the secret before it, which may still be the known one.
    pub previous: Option<String>,
    /// Whether it matters to one process alone too, because of its stored data.
    pub stored: bool,
}

impl Agreed {
    /// Returns whether a process with this setting may start where `known` is noted.
    pub fn fits(&self, known: &String) -> bool {
        self.value == *known || self.previous.as_ref() == Some(known)
    }
}

/// Characters of a fingerprint.
const LENGTH: usize = 32;

/// Returns what is stored of a secret: a digest under the secret itself as the key.
fn fingerprint(name: &str, secret: &str) -> String {
    #[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut digest = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    digest.update(b"flowsdk setting ");
    digest.update(name.as_bytes());
    let mut text = hex::encode(digest.finalize().into_bytes());
    text.truncate(LENGTH);
    text
}

/// Returns `CRYPTO_SECRET` as it is compared.
pub(super) fn crypto_secret(env: &Environment<'_>) -> Agreed {
    let name = "CRYPTO_SECRET";
    let before = env.text("CRYPTO_SECRET_PREVIOUS");
    Agreed {
        name,
        value: fingerprint(name, &env.text(name).unwrap_or_default()),
        previous: before.map(|secret| fingerprint(name, &secret)),
        stored: true,
    }
}

/// Returns the settings of this process that others must have too. One that its roles do not read is left out.
pub(super) fn agreed(
    env: &Environment<'_>,
    partitions: u32,
    administration: Option<&Administration>,
) -> Vec<Agreed> {
    let number =
        Agreed { name: "STREAM_PARTITIONS", value: partitions.to_string(), previous: None, stored: false };
    let signed = administration.map(|section| {
        let secret = |name, secret: &SecretString| Agreed {
            name,
            value: fingerprint(name, secret.expose_secret()),
            previous: None,
            stored: false,
        };
        let tokens = &section.tokens;
        [
            secret("JWT_ACCESS_SECRET", &tokens.access_secret),
            secret("JWT_REFRESH_SECRET", &tokens.refresh_secret),
        ]
    });
    [number, crypto_secret(env)].into_iter().chain(signed.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_tells_secrets_apart_and_holds_none() {
        let secret = "0123456789abcdef0123456789abcdef";
        let one = fingerprint("CRYPTO_SECRET", secret);
        assert_eq!(one, fingerprint("CRYPTO_SECRET", secret));
        assert_eq!(one.len(), LENGTH);
        assert_ne!(one, fingerprint("JWT_ACCESS_SECRET", secret));
        assert_ne!(one, fingerprint("CRYPTO_SECRET", "0123456789abcdef0123456789abcdeF"));
        assert!(!one.contains(&secret[..8]));
    }
}
