//! Encryption of stored secrets (spec A 2.9, rulings A9). Hashes, tokens and key pairs are in `flowsdk-crypto`.

mod cipher;

pub use cipher::{CipherError, Encrypted, InvalidKey, MasterKey};
