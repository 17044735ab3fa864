//! Storage of forms.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::{Page, PageRequest};
use serde_json::{Map, Value};

use super::{FormId, InteractiveForm};

/// Interactive forms of one transaction. They are deleted with their router, and stay without their number.
#[async_trait]
pub trait FormRepository: Send {
    /// Returns a page of forms, newest first: those of `router`, if it is given, and of the routers in `only`, if they
    /// are.
    async fn list(
        &mut self,
        router: Option<&RouterId>,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<InteractiveForm>, StorageError>;

    /// Returns a form.
    async fn find(&mut self, id: &FormId) -> Result<Option<InteractiveForm>, StorageError>;

    /// Returns a form, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &FormId) -> Result<Option<InteractiveForm>, StorageError>;

    /// Returns the definition of a form; an empty one where there is none.
    async fn definition(&mut self, id: &FormId) -> Result<Map<String, Value>, StorageError>;

    /// Creates a form.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when its router has one of its name, [`StorageError::Orphan`] when router or number
    /// are gone.
    async fn insert(&mut self, form: &InteractiveForm) -> Result<(), StorageError>;

    /// Rewrites a form.
    ///
    /// # Errors
    /// As [`Self::insert`].
    async fn save(&mut self, form: &InteractiveForm) -> Result<(), StorageError>;

    /// Stores the definition of a form, in place of the one before.
    async fn put_definition(
        &mut self,
        id: &FormId,
        definition: &Map<String, Value>,
    ) -> Result<(), StorageError>;

    /// Deletes a form with its definition.
    async fn delete(&mut self, id: &FormId) -> Result<(), StorageError>;
}

/// A transaction with interactive forms.
pub trait HasForms: Send {
    /// Returns the repository of this transaction.
    fn forms(&mut self) -> &mut dyn FormRepository;
}
