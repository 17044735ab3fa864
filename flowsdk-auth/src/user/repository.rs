//! Storage of users.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::store::Transaction;

use super::{Email, User};

/// Users of one transaction.
#[async_trait]
pub trait UserRepository: Send {
    /// The user with this address.
    async fn find_by_email(&mut self, email: &Email) -> Result<Option<User>, StorageError>;

    /// Creates a user, unless one with the same address exists; whether it was created.
    async fn insert_if_absent(&mut self, user: &User) -> Result<bool, StorageError>;
}

/// What authentication needs of a transaction.
pub trait AuthTx: Transaction {
    /// Users.
    fn users(&mut self) -> &mut dyn UserRepository;
}
