//! Conventions of the HTTP surface (rulings H1, H2).

mod error;

pub use error::{ApiError, not_found};
