//! Signatures (Standard Webhooks 1.0, symmetric).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flowsdk_core::crypto::{CipherError, Encrypted, MasterKey};
use flowsdk_core::id::IdSource;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// The words of random characters in a new secret: 48 bytes.
const WORDS: usize = 2;

/// A text that is no secret of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a secret of a webhook")]
pub struct InvalidSecret;

/// The secret of a webhook: `whsec_` and the key in Base64.
pub struct Secret(SecretString);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Secret {
    /// Returns a new secret.
    pub fn generate(ids: &dyn IdSource) -> Self {
        Self(format!("{PREFIX}{}", STANDARD.encode(ids.secret(WORDS))).into())
    }

    /// Reads a secret.
    ///
    /// # Errors
    /// [`InvalidSecret`].
    pub fn parse(text: SecretString) -> Result<Self, InvalidSecret> {
        let secret = Self(text);
        secret.key().map(|_| secret)
    }

    /// Opens a sealed secret.
    ///
    /// # Errors
    /// [`CipherError`] when no key opens it.
    pub fn open(sealed: &Encrypted, master_key: &MasterKey) -> Result<Self, CipherError> {
        Self::parse(master_key.decrypt(sealed)?).map_err(|_| CipherError)
    }

    /// Returns the secret as the store keeps it.
    pub fn seal(&self, master_key: &MasterKey) -> Encrypted {
        master_key.encrypt(self.0.expose_secret())
    }

    /// Returns the text that its owner is shown, once.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    fn key(&self) -> Result<Vec<u8>, InvalidSecret> {
        let key = self.0.expose_secret().strip_prefix(PREFIX).ok_or(InvalidSecret)?;
        STANDARD.decode(key).map_err(|_| InvalidSecret)
    }
}

/// Returns the header `webhook-signature` of a body that is signed by several secrets: whoever knows one of them can check
/// it.
pub fn sign_by_each(secrets: &[Secret], id: &str, timestamp: i64, body: &str) -> String {
    let signatures: Vec<String> = secrets.iter().map(|secret| sign(secret, id, timestamp, body)).collect();
    signatures.join(" ")
}

/// Returns the signature by a secret of a body that is sent with `webhook-id` at `webhook-timestamp`, in seconds.
pub fn sign(secret: &Secret, id: &str, timestamp: i64, body: &str) -> String {
    #[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.key().unwrap_or_default()).expect("a key");
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;

    use super::*;

    #[test]
    fn the_signature_of_the_specification() {
        // The example of the specification's reference libraries.
        let secret =
            Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned().into()).expect("a secret");
        let signature =
            sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn signatures_by_several_secrets_stand_side_by_side() {
        let ids = OpContext::system();
        let [new, old] = [(); 2].map(|()| Secret::generate(ids.ids()));
        let (one, other) = (sign(&new, "e1", 5, "{}"), sign(&old, "e1", 5, "{}"));
        let secrets = [new, old];
        for (secrets, expected) in
            [(&secrets[..1], one.clone()), (&secrets[..], format!("{one} {other}")), (&[], String::new())]
        {
            assert_eq!(sign_by_each(secrets, "e1", 5, "{}"), expected);
        }
    }

    #[test]
    fn secrets_are_opened_as_they_were_sealed() {
        let (key, cx) = (MasterKey::random(), OpContext::system());
        let secret = Secret::generate(cx.ids());
        assert!(secret.expose().starts_with(PREFIX) && secret.key().is_ok_and(|key| key.len() == 48));
        let opened = Secret::open(&secret.seal(&key), &key).expect("opened");
        assert_eq!(opened.expose(), secret.expose());
        assert!(Secret::open(&secret.seal(&key), &MasterKey::random()).is_err());
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        for wrong in ["", "MfKQ", "whsec_!", "Whsec_MfKQ"] {
            assert!(Secret::parse(wrong.to_owned().into()).is_err(), "{wrong}");
        }
    }
}
