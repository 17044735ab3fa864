//! Storage of variables.

use async_trait::async_trait;

use super::Variable;
use crate::fault::StorageError;
use crate::id::VariableId;
use crate::page::{Page, PageRequest};
use crate::router::VariableOwner;

/// Variables of one transaction.
#[async_trait]
pub trait VariableRepository: Send {
    /// Returns a page of the variables of `owner`, newest first.
    async fn list(
        &mut self,
        owner: &VariableOwner,
        page: &PageRequest,
    ) -> Result<Page<Variable>, StorageError>;

    /// Returns a variable of `owner`.
    async fn find(
        &mut self,
        owner: &VariableOwner,
        id: &VariableId,
    ) -> Result<Option<Variable>, StorageError>;

    /// Returns a variable of `owner`, locked until the end of the transaction.
    async fn find_for_update(
        &mut self,
        owner: &VariableOwner,
        id: &VariableId,
    ) -> Result<Option<Variable>, StorageError>;

    /// Creates a variable, unless its owner has one of this key; whether it did.
    async fn insert_if_absent(&mut self, variable: &Variable) -> Result<bool, StorageError>;

    /// Stores the value and `updated_at` of a variable.
    async fn save(&mut self, variable: &Variable) -> Result<(), StorageError>;

    /// Deletes a variable; turns no longer read it.
    async fn delete(&mut self, variable: &Variable) -> Result<(), StorageError>;
}

/// A transaction with static variables.
pub trait HasVariables: Send {
    /// Returns the repository of this transaction.
    fn variables(&mut self) -> &mut dyn VariableRepository;
}
