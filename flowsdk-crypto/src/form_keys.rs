//! Key pairs for the payloads of interactive forms (spec A 4.7).
//!
//! The provider encrypts with the public key; whoever answers forms needs the private one. The private key is a
//! PKCS#8 PEM under AES-256-CBC (PBES2, PBKDF2 with HMAC-SHA-256), which OpenSSL and Node read. The library's own
//! default would be scrypt.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, PrivateDecryptingKey};
use flowsdk_core::fault::{Fault, INTERNAL, UNAVAILABLE};
use pkcs8::pkcs5::pbes2::Parameters;
use pkcs8::{Document, LineEnding, PrivateKeyInfoRef};
use rand::RngExt as _;
use secrecy::{ExposeSecret as _, SecretString};
use zeroize::Zeroizing;

use super::pool::Pool;

/// Rounds of PBKDF2; the passphrase has 256 random bits, so more would protect nothing.
const ROUNDS: u32 = 2_048;

/// The reason why there is no key pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Fault)]
pub enum FormKeyError {
    /// Too many key pairs are waited for.
    #[error("too many keys are being made")]
    #[fault(Unavailable, "unavailable", text = UNAVAILABLE)]
    Busy,
    /// The library refused; a fault of ours or of the system's random source.
    #[error("the key could not be made")]
    #[fault(Internal, "internal", text = INTERNAL)]
    Failed,
}

/// A new key pair. `Debug` shows the public half only.
#[derive(Clone)]
pub struct FormKeyPair {
    /// The public key as SPKI PEM.
    pub public_key: String,
    /// PKCS#8 PEM, protected by the passphrase.
    pub private_key: SecretString,
    /// The passphrase of the private key: 64 hexadecimal digits.
    pub passphrase: SecretString,
}

impl fmt::Debug for FormKeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FormKeyPair").field("public_key", &self.public_key).finish_non_exhaustive()
    }
}

/// Makes key pairs on threads of its own, which give way to all others: a pair costs a core about a hundred
/// milliseconds. Clones share the threads.
#[derive(Clone)]
pub struct FormKeyMaker {
    pool: Arc<Pool>,
}

impl fmt::Debug for FormKeyMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormKeyMaker")
    }
}

impl FormKeyMaker {
    /// At most `parallel` pairs are made at once and `waiting` more wait.
    pub fn new(parallel: usize, waiting: usize) -> Self {
        Self { pool: Arc::new(Pool::new("form keys", parallel.max(1), waiting)) }
    }

    /// Returns a new RSA pair of 2048 bits under a random passphrase.
    ///
    /// # Errors
    /// [`FormKeyError::Busy`], [`FormKeyError::Failed`].
    pub async fn make(&self) -> Result<FormKeyPair, FormKeyError> {
        let pair = self.pool.submit(generate).ok_or(FormKeyError::Busy)?;
        pair.await.map_err(|_| FormKeyError::Failed)?
    }
}

fn generate() -> Result<FormKeyPair, FormKeyError> {
    let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|_| FormKeyError::Failed)?;
    let private: Pkcs8V1Der<'_> = key.as_der().map_err(|_| FormKeyError::Failed)?;
    let public: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|_| FormKeyError::Failed)?;
    let passphrase = passphrase();
    let private_key = protect(private.as_ref(), &passphrase).map_err(|_| FormKeyError::Failed)?;
    let public_key = Document::try_from(public.as_ref())
        .and_then(|document| document.to_pem("PUBLIC KEY", LineEnding::LF))
        .map_err(|_| FormKeyError::Failed)?;
    Ok(FormKeyPair { public_key, private_key, passphrase })
}

fn passphrase() -> SecretString {
    let bytes: Zeroizing<[u8; 32]> = Zeroizing::new(rand::rng().random());
    SecretString::from(hex::encode(bytes.as_slice()))
}

fn protect(private: &[u8], passphrase: &SecretString) -> Result<SecretString, pkcs8::Error> {
    let (salt, iv): ([u8; 16], [u8; 16]) = (rand::rng().random(), rand::rng().random());
    let parameters = Parameters::generate_pbkdf2_sha256_aes256cbc(ROUNDS, &salt, iv)?;
    let sealed =
        PrivateKeyInfoRef::try_from(private)?.encrypt_with_params(parameters, passphrase.expose_secret())?;
    let pem = sealed.to_pem("ENCRYPTED PRIVATE KEY", LineEnding::LF)?;
    Ok(SecretString::from(pem.to_string()))
}

#[cfg(test)]
mod tests;
