//! The encryption of what interactive forms ask and are answered (WhatsApp Flows, "Implementing Endpoints for Flows").
//!
//! A question comes under an AES key of its own, which only the private key of the number opens. The answer goes under the
//! same key, with every bit of the initial vector turned around.

use aes_gcm::aead::consts::U16;
use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::aes::Aes128;
use aes_gcm::{AesGcm, Nonce};
use aws_lc_rs::rsa::{
    OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pkcs8::{Document, EncryptedPrivateKeyInfoRef};
use rand::RngExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroizing;

/// The cipher of both directions. Its initial vector has 16 bytes.
type Cipher = AesGcm<Aes128, U16>;

/// Bytes of the AES key, and of the initial vector.
const KEY_LEN: usize = 16;

/// A text that is no key pair of forms, or that another passphrase protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key of forms")]
pub struct InvalidFormKey;

/// What cannot be decrypted: it is damaged, or encrypted for another key. Which it is nobody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it cannot be decrypted")]
pub struct Undecipherable;

/// The private key of a number's forms.
pub struct FormKey(OaepPrivateDecryptingKey);

impl fmt::Debug for FormKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormKey")
    }
}

impl FormKey {
    /// Opens a PKCS#8 PEM with its passphrase.
    ///
    /// # Errors
    /// [`InvalidFormKey`].
    pub fn open(pem: &SecretString, passphrase: &SecretString) -> Result<Self, InvalidFormKey> {
        let (_, sealed) = Document::from_pem(pem.expose_secret()).map_err(|_| InvalidFormKey)?;
        let sealed = EncryptedPrivateKeyInfoRef::try_from(sealed.as_bytes()).map_err(|_| InvalidFormKey)?;
        let clear = sealed.decrypt(passphrase.expose_secret()).map_err(|_| InvalidFormKey)?;
        let key = PrivateDecryptingKey::from_pkcs8(clear.as_bytes()).map_err(|_| InvalidFormKey)?;
        OaepPrivateDecryptingKey::new(key).map(Self).map_err(|_| InvalidFormKey)
    }

    /// Decrypts an AES key.
    fn unwrap(&self, sealed: &[u8]) -> Result<Zeroizing<[u8; KEY_LEN]>, Undecipherable> {
        let mut clear = Zeroizing::new(vec![0; self.0.min_output_size()]);
        let key = self.0.decrypt(&OAEP_SHA256_MGF1SHA256, sealed, &mut clear, None);
        let key = key.map_err(|_| Undecipherable)?;
        <[u8; KEY_LEN]>::try_from(&*key).map(Zeroizing::new).map_err(|_| Undecipherable)
    }
}

/// A question as it comes, each part in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedQuestion {
    /// The question under the AES key, with the tag at its end.
    pub encrypted_flow_data: String,
    /// The AES key under the public key of the number.
    pub encrypted_aes_key: String,
    /// The initial vector.
    pub initial_vector: String,
}

impl SealedQuestion {
    /// Decrypts the question; returns it with the key for its answer.
    ///
    /// # Errors
    /// [`Undecipherable`].
    pub fn open(&self, key: &FormKey) -> Result<(Vec<u8>, ExchangeKey), Undecipherable> {
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| Undecipherable);
        let iv = <[u8; KEY_LEN]>::try_from(bytes(&self.initial_vector)?).map_err(|_| Undecipherable)?;
        let exchange = ExchangeKey { key: key.unwrap(&bytes(&self.encrypted_aes_key)?)?, iv };
        let question = exchange.decrypt(&exchange.iv, &bytes(&self.encrypted_flow_data)?)?;
        Ok((question, exchange))
    }

    /// Encrypts a question for the holder of the private key, as the app of a contact does. Returns it with the key of
    /// its answer.
    ///
    /// # Errors
    /// [`InvalidFormKey`]: `public_key` is no SPKI PEM of an RSA key.
    pub fn seal(public_key: &str, question: &[u8]) -> Result<(Self, ExchangeKey), InvalidFormKey> {
        let (_, public) = Document::from_pem(public_key).map_err(|_| InvalidFormKey)?;
        let public = PublicEncryptingKey::from_der(public.as_bytes()).map_err(|_| InvalidFormKey)?;
        let public = OaepPublicEncryptingKey::new(public).map_err(|_| InvalidFormKey)?;
        let exchange = ExchangeKey { key: Zeroizing::new(rand::rng().random()), iv: rand::rng().random() };
        let mut wrapped = vec![0; public.ciphertext_size()];
        let wrapped = public.encrypt(&OAEP_SHA256_MGF1SHA256, exchange.key.as_slice(), &mut wrapped, None);
        let wrapped = wrapped.map_err(|_| InvalidFormKey)?;
        let sealed = exchange.encrypt(&exchange.iv, question).map_err(|_| InvalidFormKey)?;
        let question = Self {
            encrypted_flow_data: STANDARD.encode(sealed),
            encrypted_aes_key: STANDARD.encode(wrapped),
            initial_vector: STANDARD.encode(exchange.iv),
        };
        Ok((question, exchange))
    }
}

/// The key of one question and its answer.
pub struct ExchangeKey {
    key: Zeroizing<[u8; KEY_LEN]>,
    iv: [u8; KEY_LEN],
}

impl fmt::Debug for ExchangeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExchangeKey")
    }
}

impl ExchangeKey {
    /// Encrypts the answer, in base64.
    ///
    /// # Errors
    /// [`Undecipherable`], of an answer of more than 64 GiB.
    pub fn seal_answer(&self, answer: &[u8]) -> Result<String, Undecipherable> {
        self.encrypt(&self.turned(), answer).map(|sealed| STANDARD.encode(sealed))
    }

    /// Decrypts an answer, as the app of a contact does.
    ///
    /// # Errors
    /// [`Undecipherable`].
    pub fn open_answer(&self, answer: &str) -> Result<Vec<u8>, Undecipherable> {
        self.decrypt(&self.turned(), &STANDARD.decode(answer).map_err(|_| Undecipherable)?)
    }

    /// Returns the initial vector of the answer.
    fn turned(&self) -> [u8; KEY_LEN] {
        self.iv.map(|byte| !byte)
    }

    fn encrypt(&self, iv: &[u8; KEY_LEN], clear: &[u8]) -> Result<Vec<u8>, Undecipherable> {
        self.cipher().encrypt(&Nonce::from(*iv), clear).map_err(|_| Undecipherable)
    }

    fn decrypt(&self, iv: &[u8; KEY_LEN], sealed: &[u8]) -> Result<Vec<u8>, Undecipherable> {
        self.cipher().decrypt(&Nonce::from(*iv), sealed).map_err(|_| Undecipherable)
    }

    fn cipher(&self) -> Cipher {
        Cipher::new((&*self.key).into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn known() -> Value {
        serde_json::from_str(include_str!("../tests/fixtures/form_exchanges.json")).expect("JSON")
    }

    fn key_of(known: &Value) -> FormKey {
        let secret = |name: &str| SecretString::from(known[name].as_str().expect("a text"));
        FormKey::open(&secret("private_key_pem_pkcs8_encrypted"), &secret("passphrase")).expect("a key")
    }

    #[test]
    fn questions_and_answers_of_another_implementation_are_read_and_written() {
        let known = known();
        let key = key_of(&known);
        let cases = known["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 4);
        for case in cases {
            let sealed: SealedQuestion =
                serde_json::from_value(case["wire_request"].clone()).expect("sealed");
            let (question, exchange) = sealed.open(&key).expect("it is for this key");
            let question: Value = serde_json::from_slice(&question).expect("JSON");
            assert_eq!(question, case["plain_request"]);
            let wire = case["wire_response_text"].as_str().expect("a text");
            let answer = exchange.open_answer(wire).expect("its answer");
            assert_eq!(serde_json::from_slice::<Value>(&answer).expect("JSON"), case["plain_response"]);
            assert_eq!(exchange.seal_answer(&answer).as_deref(), Ok(wire));
        }
    }

    #[test]
    fn what_was_touched_is_not_read() {
        let known = known();
        let key = key_of(&known);
        let public = known["public_key_pem_spki"].as_str().expect("a text");
        let (sealed, exchange) = SealedQuestion::seal(public, b"{}").expect("sealed");
        let (question, theirs) = sealed.open(&key).expect("opened");
        assert_eq!(question, b"{}");
        let answer = theirs.seal_answer(b"done").expect("sealed");
        assert_eq!(exchange.open_answer(&answer).as_deref(), Ok(&b"done"[..]));
        assert_ne!(
            exchange.seal_answer(b"{}").as_deref(),
            Ok(&*sealed.encrypted_flow_data),
            "another vector"
        );
        let touched = |text: &str| {
            let mut bytes = STANDARD.decode(text).expect("base64");
            bytes[0] ^= 1;
            STANDARD.encode(bytes)
        };
        for bad in [
            SealedQuestion { encrypted_flow_data: touched(&sealed.encrypted_flow_data), ..sealed.clone() },
            SealedQuestion { encrypted_aes_key: touched(&sealed.encrypted_aes_key), ..sealed.clone() },
            SealedQuestion { initial_vector: touched(&sealed.initial_vector), ..sealed.clone() },
            SealedQuestion { initial_vector: STANDARD.encode([7; 12]), ..sealed.clone() },
            SealedQuestion { encrypted_aes_key: String::new(), ..sealed.clone() },
            SealedQuestion { encrypted_flow_data: "%".to_owned(), ..sealed.clone() },
        ] {
            assert!(bad.open(&key).is_err(), "{bad:?}");
        }
        assert!(SealedQuestion::seal("no PEM", b"{}").is_err());
        let secret = |text: &str| SecretString::from(text);
        let pem = known["private_key_pem_pkcs8_encrypted"].as_str().expect("a text");
        assert!(FormKey::open(&secret(pem), &secret("wrong")).is_err());
        assert!(FormKey::open(&secret("no PEM"), &secret("")).is_err());
    }
}
