//! Opt-ins as they are administered.

use async_trait::async_trait;

use super::search::SearchTerm;
use super::{Contact, ContactOptIn, OptInStatus};
use crate::fault::StorageError;
use crate::id::{ContactId, RouterId};
use crate::page::{Page, PageRequest};

/// Which contacts of a router.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptInFilter {
    /// Those whose newest record says this.
    pub status: Option<OptInStatus>,
    /// Those that have words with all these beginnings.
    pub terms: Option<Vec<SearchTerm>>,
}

/// Opt-ins of one transaction, for those who administer them.
#[async_trait]
pub trait OptInCatalog: Send {
    /// Returns every record of a contact, newest first; of the routers in `only`, if it is given.
    async fn history(
        &mut self,
        contact: &ContactId,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<ContactOptIn>, StorageError>;

    /// Returns the record that counts of each contact of a router, newest first.
    async fn of_router(
        &mut self,
        router: &RouterId,
        filter: &OptInFilter,
        page: &PageRequest,
    ) -> Result<Page<(ContactOptIn, Contact)>, StorageError>;
}

/// A transaction with the administration of opt-ins.
pub trait HasOptInCatalog: Send {
    /// Returns the repository of this transaction.
    fn opt_in_catalog(&mut self) -> &mut dyn OptInCatalog;
}
