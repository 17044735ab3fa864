//! Budgets: no model is asked when one is used up.

use std::time::Duration;

use flowsdk_agent::budget::{Budget, HasBudgets as _};
use flowsdk_agent::money::Money;
use flowsdk_agent::usage::Day;
use flowsdk_core::record::HasRecords as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::world::Agents;
use crate::support::databases::on_every_database;

on_every_database! {
    a_budget_that_is_used_up_ends_new_turns,
    it_is_warned_of_a_budget_once_a_month,
}

fn echo() -> Value {
    json!([{ "when": { "input": "^(.*)$" }, "calls": [
        { "tool": "sendTextMessage", "arguments": { "text": "You said {{1}}" } }] }])
}

impl Agents {
    /// Gives the router a budget of so many millionths, or changes the one that it has.
    pub(super) async fn limit(&self, micros: i64, is_active: bool) {
        let now = self.world.cx.now();
        let budget = Budget {
            id: "budget".parse().expect("an id"),
            router_id: self.world.router.clone(),
            monthly_amount: Money::from_micros(micros),
            is_active,
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.world.store.begin().await.expect("begin");
        let found: Option<Budget> = tx.records().find(&budget.id).await.expect("found");
        match found {
            Some(_) => tx.records().save(&budget).await.expect("saved"),
            None => tx.records().insert(&budget).await.expect("a budget"),
        }
        tx.commit().await.expect("commit");
        self.review().await;
    }

    async fn review(&self) {
        self.executor.review().await.expect("a review");
    }

    /// What is spent in this month.
    pub(super) async fn spent(&self) -> i64 {
        let month = Day::of(self.world.cx.now()).month();
        let mut tx = self.world.store.read().await.expect("read");
        let routers = std::slice::from_ref(&self.world.router);
        let spent = tx.budgets().spent(routers, &month).await.expect("spent");
        spent.first().map_or(0, |(_, spent)| spent.as_micros())
    }

    /// The month of which it was warned last.
    async fn warned_of(&self) -> Option<String> {
        let month = Day::of(self.world.cx.now()).month();
        let mut tx = self.world.store.read().await.expect("read");
        tx.budgets().in_force(&month).await.expect("budgets").remove(0).warned_of
    }
}

async fn a_budget_that_is_used_up_ends_new_turns(store: SqlStore) {
    let agents = Agents::new(store, &echo()).await;
    agents.add_price("model", 1_000_000, 1_000_000).await;
    agents.limit(1_000_000, true).await;
    agents.reach("ana", "tea").await;
    assert_eq!(agents.serve("ana").await, ["You said tea"]);
    agents.review().await;
    let spent = agents.spent().await;
    assert!(spent > 0, "a token costs a millionth");

    agents.limit(spent, true).await;
    let asks = agents.mind.asks();
    agents.say("ana", "coffee").await;
    assert_eq!(agents.serve("ana").await, [""; 0]);
    assert_eq!(agents.mind.asks(), asks, "no model is asked");
    let epoch = agents.session("ana").await.epoch;
    let turn = agents.turns("ana", epoch, 0).await.pop().expect("a turn");
    assert_eq!((turn.error.as_deref(), turn.end_reason.as_deref()), (Some("budget"), Some("fallback_stuck")));
    assert_eq!((turn.is_running, turn.answers.len()), (false, 0));
    agents.go_on().await;
    let said = agents.world.transcript_of("ana").await;
    assert_eq!(said.last().map(String::as_str), Some("< Bye fallback_stuck"));

    // Nobody is limited by a budget that is not active, nor by that of a month that is over.
    for (micros, is_active, days, visitor) in
        [(spent, false, 0, "bob"), (spent * 10, true, 0, "eva"), (spent, true, 31, "ida")]
    {
        agents.world.clock.advance(Duration::from_hours(24 * days));
        agents.limit(micros, is_active).await;
        agents.reach(visitor, "tea").await;
        assert_eq!(agents.serve(visitor).await, ["You said tea"], "{visitor}");
    }
}

async fn it_is_warned_of_a_budget_once_a_month(store: SqlStore) {
    let agents = Agents::new(store, &echo()).await;
    agents.add_price("model", 1_000_000, 1_000_000).await;
    agents.reach("ana", "tea").await;
    agents.serve("ana").await;
    agents.review().await;
    let spent = agents.spent().await;
    agents.limit(spent * 2, true).await;
    assert_eq!(agents.warned_of().await, None);
    agents.limit(spent * 5 / 4, true).await;
    let month = Day::of(agents.world.cx.now()).month();
    assert_eq!(agents.warned_of().await.as_deref(), Some(month.as_str()));
    let mut tx = agents.world.store.begin().await.expect("begin");
    let id = "budget".parse().expect("an id");
    assert!(!tx.budgets().warn(&id, &month).await.expect("warned"), "it is warned of it already");
    assert!(tx.budgets().warn(&id, "2099-01").await.expect("warned"), "another month");
    drop(tx);
    agents.review().await;
    assert_eq!(agents.warned_of().await.as_deref(), Some(month.as_str()));
}
