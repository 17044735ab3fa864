//! API clients: machines that administer (spec A 2.1).

mod model;
mod repository;

pub use model::{ApiClient, TokenHash};
pub use repository::ApiClientRepository;
