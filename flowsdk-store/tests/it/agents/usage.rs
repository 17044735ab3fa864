//! What models used: every answer is counted once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_agent::ledger::{AgentTurnFilter, HasAgentTurns as _, ModelAnswered};
use flowsdk_agent::money::Money;
use flowsdk_agent::price::ModelPrice;
use flowsdk_agent::usage::{
    Day, HasModelUsage as _, ModelUsages, UsageFigures, UsageFilter, UsageGrouping, fold_some,
};
use flowsdk_core::page::PageRequest;
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::router::Reach;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::crashes::{dies_after, wherever_it_dies};
use super::world::Agents;
use crate::conversations::world::World;
use crate::support::databases::on_every_database;

on_every_database! {
    every_answer_is_counted_once_whatever_dies,
    usage_is_reported_by_what_it_has_in_common,
    a_price_holds_for_what_is_counted_after_it,
    two_who_count_at_once_count_each_call_once,
    old_days_are_forgotten,
}

const DAY: Duration = Duration::from_hours(24);

fn echo() -> Value {
    json!({ "when": { "input": "^(.*)$" }, "calls": [
        { "tool": "sendTextMessage", "arguments": { "text": "You said {{1}}" } }] })
}

/// The figures of a report: of each group its key, and those of all.
pub(super) async fn report(
    world: &World,
    filter: UsageFilter,
) -> (BTreeMap<String, UsageFigures>, UsageFigures) {
    let usages = ModelUsages::new(Arc::clone(&world.store), world.cx.clone());
    let filter = Reach::ALL.admit(filter).expect("within reach");
    let report = usages.report(Reach::ALL, &filter).await.expect("a report");
    let groups = report.groups.into_iter().map(|group| {
        let key = group.key;
        let day = key.day.map(|day| day.to_string());
        let names = [
            day,
            key.router_id.map(|id| id.to_string()),
            key.agent_id.map(|agent| agent.map_or_else(|| "-".to_owned(), |id| id.to_string())),
            key.model,
            key.work.map(|work| work.name().to_owned()),
        ];
        (names.into_iter().flatten().collect::<Vec<_>>().join(" "), group.figures)
    });
    (groups.collect(), report.total)
}

impl Agents {
    pub(super) async fn add_price(&self, model: &str, input: i64, output: i64) {
        let now = self.world.cx.now();
        let price = ModelPrice {
            id: self.world.cx.ids().next_id().parse().expect("an id"),
            router_id: self.world.router.clone(),
            model: model.to_owned(),
            input_per_million: Money::from_micros(input),
            cached_input_per_million: None,
            output_per_million: Money::from_micros(output),
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.records().insert(&price).await.expect("a price");
        tx.commit().await.expect("commit");
    }

    async fn report(&self, filter: UsageFilter) -> (BTreeMap<String, UsageFigures>, UsageFigures) {
        report(&self.world, filter).await
    }

    /// What the answers of all turns used, without costs.
    async fn used_by_turns(&self) -> UsageFigures {
        let page = PageRequest { limit: 200, after: None };
        let mut tx = self.world.store.read().await.expect("read");
        let turns = tx.agent_turns().list(&AgentTurnFilter::default(), None, &page).await.expect("turns");
        assert!(turns.next.is_none(), "more turns than a page has");
        let mut sum = UsageFigures::default();
        let answers = turns.items.iter().flat_map(|turn| &turn.answers);
        for ModelAnswered { usage, .. } in answers.filter(|answer| answer.error.is_none()) {
            sum += UsageFigures {
                calls: 1,
                input_tokens: usage.input_tokens,
                cached_input_tokens: usage.cached_input_tokens,
                output_tokens: usage.output_tokens,
                ..UsageFigures::default()
            };
        }
        sum
    }

    /// The number of calls that are not counted yet. They are forgotten.
    async fn left(&self) -> usize {
        let mut tx = self.world.store.begin().await.expect("begin");
        tx.model_usage().take(1_000).await.expect("calls").len()
    }
}

/// Leaves out what prices make.
fn tokens(figures: UsageFigures) -> UsageFigures {
    UsageFigures { cost: Money::ZERO, unpriced_tokens: 0, ..figures }
}

/// Whoever counts dies at every step, with some or all of what waits; reports before and after are the same.
async fn every_answer_is_counted_once_whatever_dies(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.add_price("model", 333_333, 2_000_001).await;
    wherever_it_dies(async |polls| {
        let visitor = format!("v{polls}");
        agents.reach(&visitor, "tea").await;
        agents.serve(&visitor).await;
        let used = agents.used_by_turns().await;
        let before = agents.report(UsageFilter::default()).await;
        assert_eq!(tokens(before.1), used, "after {polls} polls");
        assert!(before.1.cost > Money::ZERO && before.1.unpriced_tokens == 0, "{before:?}");
        let most = if polls % 2 == 0 { 3 } else { 1_000 };
        let done = dies_after(polls, fold_some(&*agents.stepping, most)).await;
        assert_eq!(agents.report(UsageFilter::default()).await, before, "after {polls} polls");
        done && polls > 8
    })
    .await;
    let before = agents.report(UsageFilter::default()).await;
    agents.executor.review().await.expect("a review");
    assert_eq!(agents.report(UsageFilter::default()).await, before);
    assert_eq!(agents.left().await, 0);
}

async fn usage_is_reported_by_what_it_has_in_common(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.add_price("model", 1_000_000, 1_000_000).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.executor.review().await.expect("a review");
    agents.world.clock.advance(DAY);
    agents.change_agent("sales", |agent| agent.model = "other".to_owned()).await;
    agents.reach("bob", "tea").await;
    agents.serve("bob").await;
    let today = Day::of(agents.world.cx.now());
    let yesterday = today.before(1);
    let router = agents.world.router.to_string();
    for counted in [false, true] {
        let by = async |by: &[UsageGrouping]| {
            agents.report(UsageFilter { by: by.to_vec(), ..UsageFilter::default() }).await
        };
        let (groups, total) = by(&[UsageGrouping::Day]).await;
        assert_eq!(groups.keys().cloned().collect::<Vec<_>>(), [yesterday.to_string(), today.to_string()]);
        assert_eq!((total.calls, groups.values().map(|day| day.calls).sum::<u64>()), (4, 4), "{counted}");
        let all = [UsageGrouping::Router, UsageGrouping::Agent, UsageGrouping::Model, UsageGrouping::Day];
        let (groups, _) = by(&all).await;
        let expected = [format!("{yesterday} {router} sales model"), format!("{today} {router} sales other")];
        assert_eq!(groups.keys().cloned().collect::<Vec<_>>(), expected);
        let (groups, _) = by(&[UsageGrouping::Model]).await;
        let (priced, unpriced) = (&groups["model"], &groups["other"]);
        let tokens = |figures: &UsageFigures| figures.input_tokens + figures.output_tokens;
        assert_eq!((priced.cost.as_micros() as u64, priced.unpriced_tokens), (tokens(priced), 0));
        assert_eq!((unpriced.cost, unpriced.unpriced_tokens), (Money::ZERO, tokens(unpriced)));
        let (groups, total) = by(&[]).await;
        assert_eq!(groups, BTreeMap::from([(String::new(), total)]));
        for (filter, calls) in [
            (UsageFilter { from: Some(today), ..UsageFilter::default() }, 2),
            (UsageFilter { to: Some(yesterday), ..UsageFilter::default() }, 2),
            (UsageFilter { model: Some("other".to_owned()), ..UsageFilter::default() }, 2),
            (UsageFilter { model: Some("none".to_owned()), ..UsageFilter::default() }, 0),
            (UsageFilter { agent_id: Some("sales".parse().expect("an id")), ..UsageFilter::default() }, 4),
            (UsageFilter { agent_id: Some("care".parse().expect("an id")), ..UsageFilter::default() }, 0),
            (UsageFilter { router_id: Some(agents.world.router.clone()), ..UsageFilter::default() }, 4),
            (UsageFilter { router_id: Some("another".parse().expect("an id")), ..UsageFilter::default() }, 0),
        ] {
            assert_eq!(agents.report(filter.clone()).await.1.calls, calls, "{filter:?}");
        }
        agents.executor.review().await.expect("a review");
    }
}

async fn a_price_holds_for_what_is_counted_after_it(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.executor.review().await.expect("a review");
    agents.add_price("model", 1_000_000, 0).await;
    let (_, before) = agents.report(UsageFilter::default()).await;
    assert_eq!(
        (before.cost, before.unpriced_tokens),
        (Money::ZERO, before.input_tokens + before.output_tokens)
    );
    agents.say("ana", "coffee").await;
    agents.serve("ana").await;
    agents.executor.review().await.expect("a review");
    let (_, after) = agents.report(UsageFilter::default()).await;
    assert_eq!(after.unpriced_tokens, before.unpriced_tokens);
    assert_eq!(after.cost.as_micros() as u64, after.input_tokens - before.input_tokens);
}

async fn two_who_count_at_once_count_each_call_once(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    for visitor in ["ana", "bob", "eva", "ida"] {
        agents.reach(visitor, "tea").await;
        agents.serve(visitor).await;
    }
    let used = agents.used_by_turns().await;
    let (one, other) = (agents.another_executor(), agents.another_executor());
    let (one, other) = tokio::join!(one.review(), other.review());
    one.expect("a review");
    other.expect("a review");
    assert_eq!(tokens(agents.report(UsageFilter::default()).await.1), used);
    assert_eq!(agents.left().await, 0);
}

async fn old_days_are_forgotten(store: SqlStore) {
    let agents = Agents::new(store, &json!([echo()])).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.executor.review().await.expect("a review");
    let first = Day::of(agents.world.cx.now());
    for (days, calls) in [(399, 2), (1, 0)] {
        agents.world.clock.advance(DAY * days);
        agents.executor.review().await.expect("a review");
        let filter = UsageFilter { from: Some(first), to: Some(first), ..UsageFilter::default() };
        assert_eq!(agents.report(filter).await.1.calls, calls, "{days} days later");
    }
}
