//! Storage of prices, besides their records.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::ModelPrice;

/// Prices of one transaction.
#[async_trait]
pub trait ModelPriceRepository: Send {
    /// Returns the prices of these models, each with its router; in any order.
    async fn of_models(&mut self, models: &[(RouterId, String)]) -> Result<Vec<ModelPrice>, StorageError>;
}

/// A transaction with prices.
pub trait HasModelPrices: Send {
    /// Returns the repository of this transaction.
    fn model_prices(&mut self) -> &mut dyn ModelPriceRepository;
}
