//! Storage of the settings.

use async_trait::async_trait;

use super::ObservabilitySettings;
use crate::fault::StorageError;

/// The settings in one transaction.
#[async_trait]
pub trait ObservabilityRepository: Send {
    /// Returns the settings; the default ones before they were ever saved.
    async fn get(&mut self) -> Result<ObservabilitySettings, StorageError>;

    /// The same, locked until the end of the transaction.
    async fn get_for_update(&mut self) -> Result<ObservabilitySettings, StorageError>;

    /// Rewrites the settings that were locked.
    async fn save(&mut self, settings: &ObservabilitySettings) -> Result<(), StorageError>;
}

/// A transaction with the settings of observability.
pub trait HasObservability: Send {
    /// Returns the repository of this transaction.
    fn observability(&mut self) -> &mut dyn ObservabilityRepository;
}
