//! Storage of the definitions of forms.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use serde_json::{Map, Value};

use super::{FormGate, FormId};

/// The definitions of the forms of one transaction. They are deleted with their form.
#[async_trait]
pub trait FormDefinitionRepository: Send {
    /// Returns the definition of a form; an empty one where there is none.
    async fn find(&mut self, id: &FormId) -> Result<Map<String, Value>, StorageError>;

    /// Returns what answers the questions of a form; `None`, if there is no such form.
    async fn gate(&mut self, id: &FormId) -> Result<Option<FormGate>, StorageError>;

    /// Stores the definition of a form, in place of the one before.
    async fn put(&mut self, id: &FormId, definition: &Map<String, Value>) -> Result<(), StorageError>;
}

/// A transaction with the definitions of forms.
pub trait HasFormDefinitions: Send {
    /// Returns the repository of this transaction.
    fn form_definitions(&mut self) -> &mut dyn FormDefinitionRepository;
}
