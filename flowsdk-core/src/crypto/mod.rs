//! Secrets: encryption at rest and slow hashes (spec A 2.9, rulings A5, A9).

mod cipher;
mod form_keys;
mod jwt;
mod password;
mod pool;

pub use cipher::{CipherError, Encrypted, InvalidKey, MasterKey};
pub use form_keys::{FormKeyError, FormKeyMaker, FormKeyPair};
pub use jwt::{JwtError, JwtKey, Verified};
pub use password::{
    MAX_SECRET_BYTES, PASSWORD_COST, PasswordError, PasswordHasher, SESSION_KEY_COST, cost_of,
};
