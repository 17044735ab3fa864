//! Storage of groups.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::GroupId;
use flowsdk_core::page::{Page, PageRequest};

use super::Group;

/// Groups of one transaction.
#[async_trait]
pub trait GroupRepository: Send {
    /// Returns those of these groups that exist.
    async fn find_many(&mut self, ids: &[GroupId]) -> Result<Vec<Group>, StorageError>;

    /// Returns the group with this id, locked until the transaction ends.
    async fn find_for_update(&mut self, id: &GroupId) -> Result<Option<Group>, StorageError>;

    /// Returns a page of groups, newest first.
    async fn list(&mut self, page: &PageRequest) -> Result<Page<Group>, StorageError>;

    /// Creates a group without members.
    async fn insert(&mut self, group: &Group) -> Result<(), StorageError>;

    /// Writes everything of a group but its id and `createdAt`.
    async fn save(&mut self, group: &Group) -> Result<(), StorageError>;

    /// Deletes a group; its users have none afterwards. Whether it existed.
    async fn delete(&mut self, id: &GroupId) -> Result<bool, StorageError>;
}

/// A transaction with groups.
pub trait HasGroups: Send {
    /// Returns the repository of this transaction.
    fn groups(&mut self) -> &mut dyn GroupRepository;
}
