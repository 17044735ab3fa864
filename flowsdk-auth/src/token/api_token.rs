//! The static tokens of API clients (spec A 2.1, 5.1).

use rand::RngExt as _;
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};

use crate::api_client::TokenHash;

/// The prefix of every API token.
pub const PREFIX: &str = "fai_";

/// Returns a new token, of 256 bits from the system's random source, and its hash. The token is shown once and
/// stored nowhere.
pub fn generate() -> (SecretString, TokenHash) {
    let random: [u8; 32] = rand::rng().random();
    let token = format!("{PREFIX}{}", hex::encode(random));
    let hash = hash(&token);
    (SecretString::from(token), hash)
}

/// Returns the hash under which a token is stored. Nobody guesses 256 random bits, so it needs to be neither slow
/// nor salted, and a lookup by it tells nothing by its time.
pub fn hash(token: &str) -> TokenHash {
    TokenHash::from_stored(hex::encode(Sha256::digest(token.as_bytes())))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn a_token_is_64_hexadecimal_digits_and_found_by_its_hash() {
        let (token, stored) = generate();
        let digits = token.expose_secret().strip_prefix(PREFIX).expect("the prefix");
        assert_eq!(hex::decode(digits).expect("hex").len(), 32);
        assert_eq!(hash(token.expose_secret()), stored);
        assert_ne!(generate().1, stored);
        assert_eq!(
            hash("fai_test").as_str(),
            "7c1a6e88af88c5cd93445c76d0e06dbc1d179917aba54e44e5150ce96a73a5de",
            "SHA-256 in hex, as any tool gives it"
        );
        assert_eq!(format!("{stored:?} {token:?}").matches(digits).count(), 0);
    }
}
