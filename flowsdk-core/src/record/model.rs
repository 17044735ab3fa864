//! The traits of a record that belongs to a router, and of its commands.

use crate::change::Recorded;
use crate::fault::StorageError;
use crate::id::{IdSource, RouterId};
use crate::idempotency::IdempotencyConflict;
use crate::page::Searched;
use crate::router::{Reach, Reachable, RouterUnknown, router_gone};
use crate::time::Timestamp;

/// A record that belongs to a router. It is deleted with its router, and never moves to another one. The derive of the same
/// name writes the implementation.
pub trait RouterRecord: Recorded + Searched + Clone + Send + Sync + 'static {
    /// Its identifier.
    type Id: Send + Sync;
    /// The filter of its list; `Option<RouterId>` where there is nothing to filter by but the router.
    type Filter: RecordFilter;
    /// The reason why its use cases fail.
    type Error: From<StorageError> + From<RouterUnknown> + From<IdempotencyConflict> + Send;

    /// Returns the router that it belongs to.
    fn router_id(&self) -> &RouterId;

    /// Sets when it was last changed.
    fn set_updated_at(&mut self, now: Timestamp);

    /// Returns the reason why no record was found.
    fn not_found() -> Self::Error;

    /// Returns the reason why the database refused to store this record. Its router was looked for before, so an orphan
    /// lost it meanwhile.
    fn not_stored(&self, error: StorageError) -> Self::Error {
        router_gone(error)
    }

    /// Checks whether it may be deleted.
    ///
    /// # Errors
    /// The reason why it may not.
    fn may_be_deleted(&self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The filter of a list of records.
pub trait RecordFilter: Reachable + Send + Sync + 'static {
    /// Returns the router whose records are wanted; `None` is every router within reach.
    fn router(&self) -> Option<&RouterId>;
}

impl RecordFilter for Option<RouterId> {
    fn router(&self) -> Option<&RouterId> {
        self.as_ref()
    }
}

/// The command that creates a record.
pub trait NewRecord: Reachable + Send {
    /// The record.
    type Record: RouterRecord;

    /// Checks the rules that its schema cannot express.
    ///
    /// # Errors
    /// The reason why it is refused.
    fn check(&self) -> Result<(), <Self::Record as RouterRecord>::Error> {
        Ok(())
    }

    /// Returns the record, with an id from `ids`, as created at `now`.
    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> Self::Record;
}

/// The command that changes a record.
pub trait RecordChange: Send {
    /// The record.
    type Record: RouterRecord;

    /// Checks the rules that its schema cannot express.
    ///
    /// # Errors
    /// The reason why it is refused.
    fn check(&self) -> Result<(), <Self::Record as RouterRecord>::Error> {
        Ok(())
    }

    /// Returns the record after the change. [`RouterRecord::set_updated_at`] is called later.
    fn apply(self, record: Self::Record) -> Self::Record;
}

/// Returns `found` if it is within reach.
pub(super) fn within<R: RouterRecord>(found: Option<R>, reach: Reach<'_>) -> Result<R, R::Error> {
    found.filter(|record| reach.contains(record.router_id())).ok_or_else(R::not_found)
}
