//! Tokens: the JWTs of users and the static tokens of API clients (spec A 5.1).

pub mod api_token;
mod claims;
mod error;
mod header;
mod tokens;

pub use claims::{Claims, IssuedAt};
pub use error::TokenError;
pub(crate) use header::bearer;
pub use tokens::{TokenPair, TokenSettings, Tokens};
