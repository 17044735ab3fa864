//! API clients: machines that administer (spec A 2.1).

mod change;
mod error;
mod model;
mod repository;
mod service;
mod view;

pub use change::{ApiClientChange, NewApiClient};
pub use error::ApiClientError;
pub use model::{ApiClient, TokenHash};
pub use repository::{ApiClientRepository, HasApiClients};
pub use service::ApiClients;
pub use view::ApiClientView;
