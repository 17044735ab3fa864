//! Storage of users.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::{Email, User, UserRole};

/// Which users a list shows; an absent field restricts nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserFilter {
    /// Those of this group.
    pub group_id: Option<GroupId>,
    /// Those of this role.
    pub role: Option<UserRole>,
}

/// Users of one transaction.
#[async_trait]
pub trait UserRepository: Send {
    /// Returns the user with this id.
    async fn find(&mut self, id: &UserId) -> Result<Option<User>, StorageError>;

    /// The same, locked until the transaction ends.
    async fn find_for_update(&mut self, id: &UserId) -> Result<Option<User>, StorageError>;

    /// Returns the user with this address.
    async fn find_by_email(&mut self, email: &Email) -> Result<Option<User>, StorageError>;

    /// Returns a page of users, newest first.
    async fn list(&mut self, filter: &UserFilter, page: &PageRequest) -> Result<Page<User>, StorageError>;

    /// Creates a user, unless one with the same address exists; whether it was created.
    async fn insert_if_absent(&mut self, user: &User) -> Result<bool, StorageError>;

    /// Writes everything of a user but their id and `createdAt`; `logged_out_at` never goes back.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when another has the address.
    async fn save(&mut self, user: &User) -> Result<(), StorageError>;

    /// Voids the tokens issued before `at`; an earlier moment than the stored one changes nothing. Whether the
    /// user exists.
    async fn end_sessions(&mut self, id: &UserId, at: Timestamp) -> Result<bool, StorageError>;

    /// Deletes a user with their devices and recoveries; returns whether they existed.
    async fn delete(&mut self, id: &UserId) -> Result<bool, StorageError>;

    /// Returns the administrators, locked until the transaction ends, so that of two that demote each other one
    /// stays. They are locked in ascending order of their ids: lock them before any single user, or two that hold
    /// one each and want all of them end in [`StorageError::Contention`].
    async fn administrators_for_update(&mut self) -> Result<Vec<UserId>, StorageError>;
}

/// A transaction with users.
pub trait HasUsers: Send {
    /// Returns the repository of this transaction.
    fn users(&mut self) -> &mut dyn UserRepository;
}
