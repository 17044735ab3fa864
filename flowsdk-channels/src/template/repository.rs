//! Storage of templates.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{RouterId, TemplateId};
use flowsdk_core::page::{Page, PageRequest};

use super::{Template, TemplateFilter};

/// Templates of one transaction.
#[async_trait]
pub trait TemplateRepository: Send {
    /// A page of templates, newest first; of the routers in `only`, if they are given.
    async fn list(
        &mut self,
        filter: &TemplateFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Template>, StorageError>;

    /// Finds a template by its id.
    async fn find(&mut self, id: &TemplateId) -> Result<Option<Template>, StorageError>;

    /// A template, locked until the end of the transaction.
    async fn find_for_update(&mut self, id: &TemplateId) -> Result<Option<Template>, StorageError>;

    /// Creates a template, unless router, account, name and language are taken; whether it did.
    async fn insert_if_absent(&mut self, template: &Template) -> Result<bool, StorageError>;

    /// Rewrites category, status and components of a template.
    async fn save(&mut self, template: &Template) -> Result<(), StorageError>;

    /// Deletes a template.
    async fn delete(&mut self, id: &TemplateId) -> Result<(), StorageError>;
}

/// A transaction with message templates.
pub trait HasTemplates: Send {
    /// Returns the repository of this transaction.
    fn templates(&mut self) -> &mut dyn TemplateRepository;
}
