//! Interactive forms: the forms that a phone channel shows inside a conversation, as a router keeps them, and the answers
//! to what a form asks while it is open. Nothing here talks to the provider.

mod change;
mod endpoint;
mod error;
pub mod exchange;
mod model;
mod repository;
mod service;
mod transitions;

pub use change::{FormChange, NewForm};
pub use endpoint::{FormEndpoint, FormEndpointError, FormGate};
pub use error::FormError;
pub use model::{FormId, InteractiveForm, InteractiveFormView, WholeForm};
pub use repository::{FormDefinitionRepository, HasFormDefinitions};
pub use service::Forms;
pub use transitions::{FormCommand, FormStatus};
