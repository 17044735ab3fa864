//! What storage says of a principal when a request comes; read anew for every request (spec A 5.1).

mod model;
mod repository;

pub use model::{ApiClientAccess, Grant, UserAccess};
pub use repository::AccessRepository;
