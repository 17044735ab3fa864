//! Creating, changing and deleting routers.

mod change;
mod error;
mod service;

pub use change::{NewRouter, RouterChange};
pub use error::RouterError;
pub use service::{ChangedRouter, Routers};
