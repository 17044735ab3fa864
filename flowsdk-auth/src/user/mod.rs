//! Users (spec A 2.1).

mod model;
mod repository;

pub use model::{Email, InvalidEmail, User, UserRole};
pub use repository::{UserFilter, UserRepository};
