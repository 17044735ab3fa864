//! Where the server's telemetry is to go (spec A 2.9): kept here, used by nothing yet.

mod error;
mod model;
mod repository;
mod service;
mod view;

pub use error::ObservabilityError;
pub use model::{DEFAULT_SERVICE_NAME, ObservabilityChange, ObservabilitySettings};
pub use repository::{HasObservability, ObservabilityRepository};
pub use service::Observability;
pub use view::ObservabilityView;
