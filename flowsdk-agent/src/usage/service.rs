//! Reports on what models used.

use std::collections::BTreeMap;
use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::store::Store;

use super::fold::{by_model, prices_of};
use super::{
    Day, HasModelUsage, ModelCall, UsageError as Error, UsageFigures, UsageFilter, UsageGroup, UsageGrouping,
    UsageKey, UsagePart, UsageReport, UsageWanted,
};
use crate::price::{HasModelPrices, ModelPrice};

/// Most days of a report, and how many days sums are kept.
pub const MOST_DAYS: u32 = 400;
/// Most groups of a report, and calls that are not counted yet.
pub const MOST_GROUPS: u32 = 10_000;
/// The days of a report that names none.
const USUAL_DAYS: u32 = 30;

/// Reports on what models used and cost.
#[derive(Debug)]
pub struct ModelUsages<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> ModelUsages<S>
where
    S::Tx: HasModelUsage + HasModelPrices,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Returns what models used in the routers within reach. What is not counted yet is part of it, by the prices of now.
    ///
    /// # Errors
    /// [`Error::Backwards`], [`Error::TooLong`], [`Error::TooMany`], [`Error::Storage`].
    pub async fn report(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<UsageFilter>,
    ) -> Result<UsageReport, Error> {
        let wanted = wanted(filter, Day::of(self.cx.now()))?;
        let only: Option<&[RouterId]> = match &filter.router_id {
            Some(router) => Some(std::slice::from_ref(router)),
            None => reach.routers(),
        };
        let mut tx = self.store.read().await?;
        let parts = tx.model_usage().report(&wanted, only, MOST_GROUPS + 1).await?;
        if parts.len() > MOST_GROUPS as usize {
            return Err(Error::TooMany { most: MOST_GROUPS });
        }
        let noted = parts.iter().filter_map(|part| match part {
            UsagePart::Noted(call) => Some(call),
            UsagePart::Counted(..) => None,
        });
        let prices = prices_of(&mut tx, noted).await?;
        Ok(report(&wanted, parts, &prices))
    }
}

/// Returns what is wanted, with its period.
fn wanted(filter: &UsageFilter, today: Day) -> Result<UsageWanted, Error> {
    let to = filter.to.unwrap_or(today);
    let from = filter.from.unwrap_or_else(|| to.before(USUAL_DAYS - 1));
    if from > to {
        return Err(Error::Backwards);
    }
    if from < to.before(MOST_DAYS - 1) {
        return Err(Error::TooLong { most: MOST_DAYS });
    }
    Ok(UsageWanted {
        from,
        to,
        agent_id: filter.agent_id.clone(),
        model: filter.model.clone(),
        work: filter.work,
        by: filter.by.clone(),
    })
}

/// Puts the parts of a report together.
fn report(wanted: &UsageWanted, parts: Vec<UsagePart>, prices: &[ModelPrice]) -> UsageReport {
    let prices = by_model(prices);
    let mut groups: BTreeMap<UsageKey, UsageFigures> = BTreeMap::new();
    let mut total = UsageFigures::default();
    for part in parts {
        let (key, figures) = match part {
            UsagePart::Counted(key, figures) => (key, figures),
            UsagePart::Noted(call) => {
                let price = prices.get(&(call.router_id.as_str(), call.model.as_str())).copied();
                let figures = call.figures(price);
                (key_of(wanted, call), figures)
            }
        };
        *groups.entry(key).or_default() += figures;
        total += figures;
    }
    let groups = groups.into_iter().map(|(key, figures)| UsageGroup { key, figures }).collect();
    UsageReport { from: wanted.from, to: wanted.to, groups, total }
}

/// Returns the group of a call.
fn key_of(wanted: &UsageWanted, call: ModelCall) -> UsageKey {
    UsageKey {
        day: wanted.is_by(UsageGrouping::Day).then_some(call.day),
        router_id: wanted.is_by(UsageGrouping::Router).then_some(call.router_id),
        agent_id: wanted.is_by(UsageGrouping::Agent).then_some(call.agent_id),
        model: wanted.is_by(UsageGrouping::Model).then_some(call.model),
        work: wanted.is_by(UsageGrouping::Work).then_some(call.work),
    }
}
