//! How calls that are noted become figures.

use std::collections::{BTreeMap, BTreeSet};

use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::{AgentId, RouterId};
use flowsdk_core::store::{Store, transact};

use super::{Day, HasModelUsage, ModelCall, ModelUsage, ModelWork, UsageFigures};
use crate::money::Money;
use crate::price::{HasModelPrices, ModelPrice};

/// Adds calls up by router, work, agent, model and day, in this order. Each is rounded by itself, so the sums do not
/// depend on which calls are added up together.
pub fn fold(calls: &[ModelCall], prices: &[ModelPrice]) -> Vec<ModelUsage> {
    let prices = by_model(prices);
    let mut sums: BTreeMap<(&RouterId, ModelWork, Option<&AgentId>, &str, Day), UsageFigures> =
        BTreeMap::new();
    for call in calls {
        let price = prices.get(&(call.router_id.as_str(), call.model.as_str())).copied();
        let key = (&call.router_id, call.work, call.agent_id.as_ref(), call.model.as_str(), call.day);
        *sums.entry(key).or_default() += call.figures(price);
    }
    let mut usage = Vec::with_capacity(sums.len());
    for ((router, work, agent, model, day), figures) in sums {
        let (router_id, agent_id) = (router.clone(), agent.cloned());
        usage.push(ModelUsage { router_id, work, agent_id, model: model.to_owned(), day, figures });
    }
    usage
}

/// Returns what these cost by router and month; nothing where nothing has a cost.
pub fn spending(usage: &[ModelUsage]) -> BTreeMap<(&RouterId, String), Money> {
    let mut sums: BTreeMap<(&RouterId, String), Money> = BTreeMap::new();
    for ModelUsage { router_id, day, figures, .. } in
        usage.iter().filter(|one| one.figures.cost > Money::ZERO)
    {
        let sum = sums.entry((router_id, day.month())).or_default();
        *sum = sum.plus(figures.cost);
    }
    sums
}

/// Returns prices by router and model.
pub(super) fn by_model(prices: &[ModelPrice]) -> BTreeMap<(&str, &str), &ModelPrice> {
    prices.iter().map(|price| ((price.router_id.as_str(), price.model.as_str()), price)).collect()
}

/// Returns the prices of calls.
pub(super) async fn prices_of<T: HasModelPrices>(
    tx: &mut T,
    calls: impl Iterator<Item = &ModelCall>,
) -> Result<Vec<ModelPrice>, StorageError> {
    let models: BTreeSet<_> = calls.map(|call| (call.router_id.clone(), call.model.clone())).collect();
    if models.is_empty() {
        return Ok(Vec::new());
    }
    tx.model_prices().of_models(&models.into_iter().collect::<Vec<_>>()).await
}

/// Takes up to `most` calls that are noted, and counts them, in one transaction: each is counted once, whoever else counts at
/// the same time. Returns how many they were.
///
/// # Errors
/// [`StorageError`]: nothing was taken.
pub async fn fold_some<S: Store>(store: &S, most: u32) -> Result<usize, StorageError>
where
    S::Tx: HasModelUsage + HasModelPrices,
{
    transact(store, async |tx: &mut S::Tx| -> Result<_, StorageError> {
        let calls = tx.model_usage().take(most).await?;
        if !calls.is_empty() {
            let prices = prices_of(tx, calls.iter()).await?;
            tx.model_usage().add(&fold(&calls, &prices)).await?;
        }
        Ok(calls.len())
    })
    .await
}

/// Notes a call in a commit of its own. Its answer is there, and paid for, so a note that cannot be written is only logged.
pub(crate) async fn note_alone<S: Store>(store: &S, call: ModelCall)
where
    S::Tx: HasModelUsage,
{
    let noted = transact(store, async |tx: &mut S::Tx| -> Result<(), StorageError> {
        tx.model_usage().note(std::slice::from_ref(&call)).await
    });
    if let Err(error) = noted.await {
        let ModelCall { router_id, model, .. } = &call;
        tracing::warn!(router = %router_id, model, error = %Chain(&error), "what a model used is not counted");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(
        position: u32,
        (router, agent, model, day, work): (u8, u8, u8, u8, usize),
        tokens: (u64, u64, u64),
    ) -> ModelCall {
        ModelCall {
            source_id: "t".to_owned(),
            position,
            work: ModelWork::ALL[work],
            router_id: format!("r{router}").parse().expect("an id"),
            agent_id: (agent > 0).then(|| format!("a{agent}").parse().expect("an id")),
            model: format!("m{model}"),
            day: Day::parse(&format!("2026-11-0{}", day + 1)).expect("a day"),
            input_tokens: tokens.0,
            cached_input_tokens: tokens.1,
            output_tokens: tokens.2,
        }
    }

    /// The first model has a price in the first router only.
    fn prices() -> Vec<ModelPrice> {
        vec![ModelPrice {
            id: "p".parse().expect("an id"),
            router_id: "r0".parse().expect("an id"),
            model: "m0".to_owned(),
            input_per_million: Money::from_micros(333_333),
            cached_input_per_million: Some(Money::from_micros(77)),
            output_per_million: Money::from_micros(2_000_001),
            created_at: flowsdk_core::time::Timestamp::from_millis(0),
            updated_at: flowsdk_core::time::Timestamp::from_millis(0),
        }]
    }

    fn any_calls() -> impl Strategy<Value = Vec<ModelCall>> {
        let key = (0..2_u8, 0..2_u8, 0..2_u8, 0..3_u8, 0..ModelWork::ALL.len());
        let tokens = (0..100_000_u64, 0..100_000_u64, 0..10_000_u64);
        prop::collection::vec((key, tokens), 0..60).prop_map(|calls| {
            let numbered = (0..).zip(calls);
            numbered.map(|(position, (key, tokens))| call(position, key, tokens)).collect()
        })
    }

    proptest! {
        #[test]
        fn sums_do_not_depend_on_what_is_added_up_together(
            calls in any_calls().prop_shuffle(),
            cuts in prop::collection::vec(1..8_usize, 60),
        ) {
            let whole = fold(&calls, &prices());
            let mut parts: BTreeMap<_, UsageFigures> = BTreeMap::new();
            let mut rest = &calls[..];
            for cut in cuts {
                let (some, left) = rest.split_at(cut.min(rest.len()));
                for ModelUsage { router_id, work, agent_id, model, day, figures } in fold(some, &prices()) {
                    *parts.entry((router_id, work, agent_id, model, day)).or_default() += figures;
                }
                rest = left;
            }
            prop_assert_eq!(rest, &[][..]);
            let whole: BTreeMap<_, _> = whole
                .into_iter()
                .map(|one| ((one.router_id, one.work, one.agent_id, one.model, one.day), one.figures))
                .collect();
            prop_assert_eq!(&parts, &whole);
            let mut total = UsageFigures::default();
            for figures in whole.values() {
                total += *figures;
            }
            prop_assert_eq!(total.calls, calls.len() as u64);
            prop_assert_eq!(total.input_tokens, calls.iter().map(|call| call.input_tokens).sum::<u64>());
            prop_assert_eq!(total.output_tokens, calls.iter().map(|call| call.output_tokens).sum::<u64>());
            let is_priced = |call: &&ModelCall| call.router_id.as_str() == "r0" && call.model == "m0";
            let unpriced = calls.iter().filter(|call| !is_priced(call));
            let unpriced: u64 = unpriced.map(|call| call.input_tokens + call.output_tokens).sum();
            prop_assert_eq!(total.unpriced_tokens, unpriced);
        }
    }
}
