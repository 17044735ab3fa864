//! Processes that die in the middle of a turn: every message is answered once, and every effect happens once.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowsdk_agent::executor::Served;
use flowsdk_agent::inbox::{HasInbox as _, Waiting};
use flowsdk_agent::ledger::HasAgentTurns as _;
use flowsdk_agent::model::Item;
use flowsdk_agent::turn::SENT;
use flowsdk_core::lease::Leases;
use flowsdk_core::session::Mode;
use flowsdk_core::store::Store as _;
use flowsdk_store::memory::MemoryKeyValue;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::world::Agents;
use crate::conversations::world::session;
use crate::support::databases::on_every_database;

on_every_database! {
    a_turn_that_was_left_goes_on,
    a_tool_that_was_interrupted_is_not_run_again,
    a_tool_that_asks_nothing_is_written_with_its_answer,
    a_turn_that_is_left_again_and_again_ends,
    whoever_may_not_be_alone_asks_no_model,
}

/// Polls a future so often, and then drops it: the process has died. Returns whether it was done by then.
pub(super) async fn dies_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        future.as_mut().poll(context).map(|_| true)
    })
    .await
}

/// Polls a future until `has_come` holds after a poll, and then drops it.
///
/// # Panics
/// Panics if the future is done before.
pub(super) async fn dies_when(has_come: impl Fn() -> bool, future: impl Future) {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        assert!(future.as_mut().poll(context).is_pending(), "it was done before");
        if has_come() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Repeats `attempt` with one poll more each time, until it returns that its worker was done by then. Returns how many
/// workers died.
pub(super) async fn wherever_it_dies(attempt: impl AsyncFn(usize) -> bool) -> usize {
    for polls in 1..1_000 {
        if attempt(polls).await {
            return polls - 1;
        }
    }
    panic!("it never ends");
}

async fn a_turn_that_was_left_goes_on(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "price of (\\w+)" }, "calls": [
            { "tool": "setVariable", "arguments": { "key": "asked", "value": "{{1}}" } },
            { "tool": "setContactVariable", "arguments": { "key": "likes", "value": "{{1}}" } },
            { "tool": "sendTextMessage", "arguments": { "text": "Let me see" } }] },
        { "when": { "after": "setVariable" }, "calls": [
            { "tool": "sendTextMessage", "arguments": { "text": "It is 12" } }] },
    ]);
    let agents = Agents::new(store, &rules).await;
    let died = wherever_it_dies(async |polls| {
        let visitor = format!("v{polls}");
        agents.reach(&visitor, "the price of tea").await;
        let done =
            dies_after(polls, agents.another_executor().serve(&session(&visitor), &CancellationToken::new()))
                .await;
        // The next process finds what the last one has left, as a round of the executor does.
        let mut tx = agents.world.store.read().await.expect("read");
        let left = tx.agent_turns().sessions_running(100).await.expect("turns");
        let waiting = Waiting::of(tx.inbox().waiting(100).await.expect("events"));
        drop(tx);
        assert!(!done || (left.is_empty() && waiting.is_empty()), "after {polls} polls");
        agents.serve(&visitor).await;
        let said = agents.world.transcript_of(&visitor).await;
        assert_eq!(said[3..], ["< Let me see", "< It is 12"], "after {polls} polls");
        let stored = agents.session(&visitor).await;
        assert_eq!((stored.mode, &stored.variables["asked"]), (Mode::Agent, &json!("tea")));
        let turns = agents.turns(&visitor, stored.epoch, 0).await;
        assert_eq!((turns.len(), turns[0].is_running, turns[0].error.as_deref()), (1, false, None));
        done
    })
    .await;
    assert!(died > 2, "{died}");
}

async fn a_tool_that_was_interrupted_is_not_run_again(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "price" }, "calls": [{ "tool": "price", "arguments": { "product": "tea" } }] },
        { "when": { "after": "price", "result": "interrupted" }, "calls": [
            { "tool": "sendTextMessage", "arguments": { "text": "I do not know" } }] },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "price").await;
    let gate = agents.shop.gate.acquire_many(1_000).await.expect("a gate");
    let (served, go_on) = (session("ana"), CancellationToken::new());
    let executor = agents.another_executor();
    {
        let mut serving = pin!(executor.serve(&served, &go_on));
        while *agents.shop.calls.lock().expect("a lock") == 0 {
            assert!(serving.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            tokio::task::yield_now().await;
        }
    }
    drop(gate);
    assert_eq!(agents.serve("ana").await, ["I do not know"]);
    assert_eq!(*agents.shop.calls.lock().expect("a lock"), 1);
}

/// It is called in the transaction of the answer, so no crash leaves it begun.
async fn a_tool_that_asks_nothing_is_written_with_its_answer(store: SqlStore) {
    let rules = json!([
        { "when": { "input": "price" }, "calls": [{ "tool": "fixed", "arguments": { "product": "tea" } },
            { "tool": "fixed", "arguments": {} }, { "tool": "setContactVariable", "arguments": { "key": "likes", "value": 1 } },
            { "tool": "fixed", "arguments": { "product": "cake" } }] },
        { "when": { "after": "fixed" }, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "12" } }] },
    ]);
    let agents = Agents::new(store, &rules).await;
    agents.world.publish("router1", "fixed", fixed()).await;
    let go_on = CancellationToken::new();
    let died = wherever_it_dies(async |polls| {
        let (executor, visitor, first) =
            (agents.another_executor(), format!("v{polls}"), format!("f{polls}"));
        for visitor in [&first, &visitor] {
            agents.reach(visitor, "price").await;
        }
        // It compiles the tool, which is called after the commit therefore.
        executor.serve(&session(&first), &go_on).await.expect("served");
        let done = dies_after(polls, executor.serve(&session(&visitor), &go_on)).await;
        agents.serve(&visitor).await;
        let mut steps = Vec::new();
        for visitor in [&first, &visitor] {
            let turn = agents.last_turn(visitor, agents.session(visitor).await.epoch).await;
            let results = turn.items.iter().filter_map(|item| match item {
                Item::ToolResult { output, .. } => Some(output.as_str()),
                _ => None,
            });
            let results: Vec<&str> = results.collect();
            let expected = [
                r#"{"before":"","price":"12"}"#,
                "error: `product` is missing",
                "done",
                r#"{"before":"tea","price":"12"}"#,
                SENT,
            ];
            assert_eq!(results, expected, "after {polls} polls");
            let contact = Value::Object(agents.world.contact(visitor).await.variables);
            assert_eq!(contact, json!({ "asked": "cake", "likes": 1 }), "after {polls} polls");
            steps.push(turn.step);
        }
        assert!(!done || steps[1] < steps[0], "{steps:?}");
        done
    })
    .await;
    assert!(died > 2, "{died}");
}

/// Returns a price that it knows, and notes for what it was asked.
fn fixed() -> Value {
    json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a",
        "parameters": [{ "name": "product", "required": true }], "returns": ["before", "price"],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true }, "onEnter": [
            { "type": "setVariable", "key": "before", "value": "{{contact.asked}}" },
            { "type": "setVariable", "key": "price", "value": "12" },
            { "type": "setContactVariable", "key": "asked", "value": "{{product}}" }] }] })
}

/// A turn whose steps cannot be written does not ask its model for ever.
async fn a_turn_that_is_left_again_and_again_ends(store: SqlStore) {
    let agents = Agents::new(store, &json!([])).await;
    agents.reach("ana", "tea").await;
    let gate = agents.mind.gate.acquire_many(1_000).await.expect("a gate");
    let (ana, go_on) = (session("ana"), CancellationToken::new());
    let mut left = 0;
    loop {
        let before = agents.mind.asks();
        let asked = async {
            while agents.mind.asks() == before {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            served = agents.executor.serve(&ana, &go_on) => {
                served.expect("served");
                break;
            }
            () = asked => left += 1,
        }
        assert!(left < 100, "it never ends");
    }
    drop(gate);
    assert_eq!(left, 21, "once, and twenty times again");
    assert_eq!(agents.go_on().await, ["Bye fallback_stuck"]);
    assert_eq!(agents.session("ana").await.mode, Mode::Flow);
}

/// The process was paused for longer than its lease: another one may run the turn.
async fn whoever_may_not_be_alone_asks_no_model(store: SqlStore) {
    let rules =
        json!([{ "when": {}, "calls": [{ "tool": "sendTextMessage", "arguments": { "text": "12" } }] }]);
    let agents = Agents::new(store, &rules).await;
    agents.reach("ana", "price").await;
    let nobody_took_it = Leases::new(Arc::new(MemoryKeyValue::default()), "paused", Duration::from_secs(1));
    let paused = agents.executor_within(nobody_took_it.tenure("agents"));
    let served = paused.serve(&session("ana"), &CancellationToken::new()).await.expect("served");
    assert_eq!((served, agents.mind.asks()), (Served::NotNow, 0));
    assert_eq!(agents.serve("ana").await, ["12"]);
}
