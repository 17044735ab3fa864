//! Interactive forms: the forms that a phone channel shows inside a conversation, as a router keeps them. Nothing here
//! talks to the provider, and no data is exchanged with a form that is open.

mod change;
mod error;
mod model;
mod repository;
mod service;
mod transitions;

pub use change::{FormChange, NewForm};
pub use error::FormError;
pub use model::{FormId, InteractiveForm, InteractiveFormView, WholeForm};
pub use repository::{FormDefinitionRepository, HasFormDefinitions};
pub use service::Forms;
pub use transitions::{FormCommand, FormStatus};
