//! What models cost.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::price::{HasModelPrices, ModelPrice, ModelPriceRepository};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use super::SqlTx;
use super::record::{Record as _, record};
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql_per};

record! {
    ModelPrice in "model_price" {
        id, router_id, model, created_at;
        input_per_million, cached_input_per_million, output_per_million, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<ModelPrice>(&[]);

/// `$1` lists `[router, model]`.
pub(super) const OF_MODELS: Sql = sql_per(
    concat!(
        ModelPrice::SELECT,
        " WHERE (router_id, model) IN (SELECT value ->> 0, value ->> 1 FROM json_each($1))"
    ),
    concat!(
        ModelPrice::SELECT,
        " WHERE (router_id, model) IN (SELECT value ->> 0, value ->> 1 FROM jsonb_array_elements($1) AS asked (value))"
    ),
);

super::statement::statements! { OF_MODELS; TABLE }

impl RouterTable for ModelPrice {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasModelPrices::model_prices -> ModelPriceRepository);

#[async_trait]
impl ModelPriceRepository for SqlTx {
    async fn of_models(&mut self, models: &[(RouterId, String)]) -> Result<Vec<ModelPrice>, StorageError> {
        self.conn.fetch_all(OF_MODELS, (Json(models),)).await
    }
}
