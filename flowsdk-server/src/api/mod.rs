//! Conventions of the HTTP surface (rulings H1, H2).

mod error;

pub use error::{ApiError, method_not_allowed, not_found};
