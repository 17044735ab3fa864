//! Storage of what the provider tells of templates.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::{Template, TemplateStatus};
use crate::channel_number::ProviderId;

/// A template as a message names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SentTemplate {
    /// The provider's id of the number that sends it.
    pub phone_number_id: String,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
}

/// Templates of one transaction, by what the provider knows of them.
#[async_trait]
pub trait ProviderTemplates: Send {
    /// Returns the templates of an account in these routers, locked until the end of the transaction.
    async fn of_account(
        &mut self,
        routers: &[RouterId],
        account: &ProviderId,
    ) -> Result<Vec<Template>, StorageError>;

    /// Creates templates. One whose router, account, name and language are there is rewritten, under the id that it has.
    async fn put_many(&mut self, templates: &[Template]) -> Result<(), StorageError>;

    /// Returns the access token of a number of the account in the router, an active one before others.
    async fn token(
        &mut self,
        router: &RouterId,
        account: &ProviderId,
    ) -> Result<Option<Encrypted>, StorageError>;

    /// Returns the status of each of these that is known.
    async fn statuses(
        &mut self,
        sent: &[SentTemplate],
    ) -> Result<Vec<(SentTemplate, TemplateStatus)>, StorageError>;

    /// Notes statuses that refusals of the provider tell.
    async fn note_statuses(
        &mut self,
        told: &[(SentTemplate, TemplateStatus)],
        now: Timestamp,
    ) -> Result<(), StorageError>;
}

/// A transaction with what the provider tells of templates.
pub trait HasProviderTemplates: Send {
    /// Returns the repository of this transaction.
    fn provider_templates(&mut self) -> &mut dyn ProviderTemplates;
}
