//! What models cost: the prices that a router writes down.

mod error;
mod model;
mod repository;

use flowsdk_core::record::RouterRecords;

pub use error::ModelPriceError;
pub use model::{ModelPrice, ModelPriceChange, ModelPriceId, NewModelPrice, Rates};
pub use repository::{HasModelPrices, ModelPriceRepository};

/// The use cases of prices.
pub type ModelPrices<S> = RouterRecords<S, ModelPrice>;
