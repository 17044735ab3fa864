//! The caller and their permissions; the stored state is read anew for every request (spec A 5.1).

mod authenticate;
mod authenticated;
mod error;
mod last_used;
mod lookup;
mod model;
mod repository;

pub use authenticate::Authenticator;
pub use authenticated::Authenticated;
pub use error::AuthenticateError;
pub use model::{ApiClientAccess, Grant, UserAccess};
pub use repository::{AccessRepository, HasAccess};
