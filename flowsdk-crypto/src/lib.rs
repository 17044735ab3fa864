//! Hashes, tokens and key pairs of FlowSDK (spec A 2.9, 5.1).
//!
//! - [`PasswordHasher`]: bcrypt on a bounded pool of threads that give way to all others.
//! - [`JwtKey`]: JSON Web Tokens under a shared secret, HS256 only.
//! - [`FormKeyMaker`]: RSA key pairs for the payloads of interactive forms.
//! - [`SealedQuestion`]: what interactive forms ask, under these keys.
//!
//! An engine without users or channels needs none of it, so `flowsdk-core` does not depend on this crate.

mod form_exchange;
mod form_keys;
mod jwt;
mod password;
mod pool;

pub use form_exchange::{ExchangeKey, FormKey, InvalidFormKey, SealedQuestion, Undecipherable};
pub use form_keys::{FormKeyError, FormKeyMaker, FormKeyPair};
pub use jwt::{JwtError, JwtKey, LEEWAY, Verified};
pub use password::{
    MAX_SECRET_BYTES, PASSWORD_COST, PasswordError, PasswordHasher, SESSION_KEY_COST, cost_of,
};

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
