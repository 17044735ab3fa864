//! Secrets and their encryption at rest (spec A 2.9, rulings A9).

mod cipher;

pub use cipher::{CipherError, Encrypted, InvalidKey, MasterKey};
