//! The price. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::event::TokenUsage;
use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::patch::present;
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::ModelPriceError;
use crate::money::Money;

/// Identifier of a price.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct ModelPriceId(Arc<str>);

/// What a model costs in a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = AiModelPrice, error = ModelPriceError, search = model, unique = ModelTaken)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelPrice {
    /// The id of the price.
    pub id: ModelPriceId,
    /// The router whose agents pay it. It never changes.
    pub router_id: RouterId,
    /// The provider's name of the model; unique in its router. It never changes.
    #[schema(example = "gpt-5-mini")]
    pub model: String,
    /// What a million input tokens cost, in the currency of the router's choice.
    #[schema(value_type = f64, example = 0.25)]
    pub input_per_million: Money,
    /// What a million input tokens cost that the provider had cached; null is as much as the others.
    #[schema(value_type = Option<f64>, required = true, example = 0.025)]
    pub cached_input_per_million: Option<Money>,
    /// What a million output tokens cost, those of reasoning too.
    #[schema(value_type = f64, example = 2)]
    pub output_per_million: Money,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

impl ModelPrice {
    /// Returns what these tokens cost, to the nearest millionth; [`Money::MAX`] at most.
    pub fn cost_of(&self, usage: &TokenUsage) -> Money {
        let Self { input_per_million, cached_input_per_million, output_per_million, .. } = *self;
        Rates { input_per_million, cached_input_per_million, output_per_million }.cost_of(usage)
    }
}

/// What the tokens of a model cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rates {
    /// What a million input tokens cost.
    pub input_per_million: Money,
    /// What a million input tokens cost that the provider had cached; `None` is as much as the others.
    #[serde(default)]
    pub cached_input_per_million: Option<Money>,
    /// What a million output tokens cost, those of reasoning too.
    pub output_per_million: Money,
}

impl Rates {
    /// Returns what these tokens cost, to the nearest millionth; [`Money::MAX`] at most.
    pub fn cost_of(&self, usage: &TokenUsage) -> Money {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let cached_price = self.cached_input_per_million.unwrap_or(self.input_per_million);
        let parts = [
            (usage.input_tokens - cached, self.input_per_million),
            (cached, cached_price),
            (usage.output_tokens, self.output_per_million),
        ];
        let of_part = |(tokens, price): (u64, Money)| i128::from(tokens) * i128::from(price.as_micros());
        let millionths = parts.into_iter().map(of_part).sum::<i128>();
        let micros = (millionths + 500_000) / 1_000_000;
        i64::try_from(micros).map_or(Money::MAX, |micros| Money::from_micros(micros).min(Money::MAX))
    }
}

/// A new price.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateModelPrice)]
pub struct NewModelPrice {
    /// The router whose agents pay it. It cannot be changed later.
    pub router_id: RouterId,
    /// The provider's name of the model; unique in its router. It cannot be changed later.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "gpt-5-mini")]
    pub model: String,
    /// What a million input tokens cost, in the currency of the router's choice; at most six decimals.
    #[schema(value_type = f64, minimum = 0, maximum = 1_000_000_000, example = 0.25)]
    pub input_per_million: Money,
    /// What a million input tokens cost that the provider had cached; null is as much as the others.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1_000_000_000, example = 0.025)]
    pub cached_input_per_million: Option<Money>,
    /// What a million output tokens cost, those of reasoning too.
    #[schema(value_type = f64, minimum = 0, maximum = 1_000_000_000, example = 2)]
    pub output_per_million: Money,
}

impl Reachable for NewModelPrice {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewModelPrice {
    type Record = ModelPrice;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> ModelPrice {
        ModelPrice {
            id: ModelPriceId::generate(ids),
            router_id: self.router_id,
            model: self.model.trim().to_owned(),
            input_per_million: self.input_per_million,
            cached_input_per_million: self.cached_input_per_million,
            output_per_million: self.output_per_million,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a price; an absent field stays, and null removes a value. What was counted before keeps its cost.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchModelPrice)]
pub struct ModelPriceChange {
    /// What a million input tokens cost, in the currency of the router's choice; at most six decimals.
    #[schema(value_type = f64, required = false, minimum = 0, maximum = 1_000_000_000)]
    pub input_per_million: Option<Money>,
    /// What a million input tokens cost that the provider had cached; null is as much as the others.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1_000_000_000)]
    pub cached_input_per_million: Option<Option<Money>>,
    /// What a million output tokens cost, those of reasoning too.
    #[schema(value_type = f64, required = false, minimum = 0, maximum = 1_000_000_000)]
    pub output_per_million: Option<Money>,
}

impl RecordChange for ModelPriceChange {
    type Record = ModelPrice;

    fn apply(self, price: ModelPrice) -> ModelPrice {
        ModelPrice {
            input_per_million: self.input_per_million.unwrap_or(price.input_per_million),
            cached_input_per_million: self.cached_input_per_million.unwrap_or(price.cached_input_per_million),
            output_per_million: self.output_per_million.unwrap_or(price.output_per_million),
            ..price
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(input: i64, cached: Option<i64>, output: i64) -> ModelPrice {
        let now = Timestamp::from_millis(0);
        ModelPrice {
            id: "p".parse().expect("an id"),
            router_id: "r".parse().expect("an id"),
            model: "m".to_owned(),
            input_per_million: Money::from_micros(input),
            cached_input_per_million: cached.map(Money::from_micros),
            output_per_million: Money::from_micros(output),
            created_at: now,
            updated_at: now,
        }
    }

    #[test]
    fn tokens_cost_their_price_a_million() {
        let usage = |input_tokens, cached_input_tokens, output_tokens| TokenUsage {
            input_tokens,
            cached_input_tokens,
            output_tokens,
            reasoning_tokens: 0,
        };
        let gpt = price(250_000, Some(25_000), 2_000_000);
        for (price, usage, micros) in [
            (&gpt, usage(0, 0, 0), 0),
            (&gpt, usage(1_000_000, 0, 0), 250_000),
            (&gpt, usage(1_000_000, 1_000_000, 0), 25_000),
            (&gpt, usage(1_200, 1_000, 100), 50 + 25 + 200),
            (&gpt, usage(2, 0, 0), 1),
            (&gpt, usage(1, 0, 0), 0),
            // A provider that counts cached tokens beside the others does not make them negative.
            (&gpt, usage(1_000, 5_000, 0), 25),
            (&price(250_000, None, 0), usage(1_000, 1_000, 0), 250),
            (&price(Money::MAX.as_micros(), None, 0), usage(u64::MAX, 0, 0), Money::MAX.as_micros()),
        ] {
            assert_eq!(price.cost_of(&usage), Money::from_micros(micros), "{usage:?}");
        }
    }
}
