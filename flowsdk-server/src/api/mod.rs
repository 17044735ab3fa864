//! Conventions of the HTTP surface (rulings H1, H2).

mod error;
mod request;

pub use error::{ApiError, method_not_allowed, not_found, panicked};
pub use request::identify;
