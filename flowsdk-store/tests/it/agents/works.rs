//! What models use outside the answers of turns is counted once, and budgets hold for it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_agent::knowledge::{DocumentStatus, Ingest, Knowledge, OfflineEmbedders, SearchKnowledge};
use flowsdk_agent::usage::{ModelWork, UsageFigures, UsageFilter, UsageGrouping};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::event::SummaryRequest;
use flowsdk_core::router::Reach;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::crashes::{dies_after, dies_when, wherever_it_dies};
use super::knowledge::{library, long};
use super::library::BILLED;
use super::searches::{agents, searching};
use super::summaries::Scene;
use super::usage::report;
use super::world::Agents;
use crate::conversations::world::World;
use crate::support::databases::on_every_database;

on_every_database! {
    a_summary_is_counted_once_whatever_dies,
    a_summary_of_no_use_is_counted,
    a_recording_is_counted_for_its_agent,
    vectors_are_counted_once_whatever_dies,
    vectors_of_what_is_replaced_meanwhile_are_counted,
    searches_are_counted,
    vectors_without_a_model_are_not_counted,
    work_is_told_apart,
    no_summary_is_written_beyond_the_budget,
    documents_wait_for_a_budget,
}

/// The figures by agent, model and work; `-` stands for no agent.
pub(super) async fn by_work(world: &World) -> BTreeMap<String, UsageFigures> {
    let by = vec![UsageGrouping::Work, UsageGrouping::Agent, UsageGrouping::Model];
    report(world, UsageFilter { by, ..UsageFilter::default() }).await.0
}

async fn calls(world: &World, key: &str) -> u64 {
    by_work(world).await.get(key).map_or(0, |figures| figures.calls)
}

fn figures(calls: u64, input_tokens: u64, output_tokens: u64) -> UsageFigures {
    let unpriced_tokens = input_tokens + output_tokens;
    UsageFigures { calls, input_tokens, output_tokens, unpriced_tokens, ..UsageFigures::default() }
}

async fn a_summary_is_counted_once_whatever_dies(store: SqlStore) {
    const KEY: &str = "- small summary";
    let scene = Scene::new(store).await;
    let world = &scene.agents.world;
    let is_counted_once = async |visitor: &str, request: &SummaryRequest, before: u64| {
        let is_written = scene.last_summary(visitor).await.is_some();
        assert_eq!(calls(world, KEY).await - before, u64::from(is_written), "{visitor}");
        for _ in 0..2 {
            scene.summarizer.summarize(request).await.expect("written");
        }
        assert_eq!(calls(world, KEY).await - before, 1, "{visitor}");
    };
    let (request, asks) = (scene.attend("ana", "tea").await, scene.agents.mind.asks());
    let permits = u32::try_from(scene.agents.mind.gate.available_permits()).expect("few");
    let gate = scene.agents.mind.gate.acquire_many(permits).await.expect("a gate");
    dies_when(|| scene.agents.mind.asks() > asks, scene.summarizer.summarize(&request)).await;
    drop(gate);
    is_counted_once("ana", &request, 0).await;
    wherever_it_dies(async |polls| {
        let visitor = format!("v{polls}");
        let request = scene.attend(&visitor, "tea").await;
        let before = calls(world, KEY).await;
        let done = dies_after(polls, scene.summarizer.summarize(&request)).await;
        is_counted_once(&visitor, &request, before).await;
        done
    })
    .await;
    let used = by_work(world).await[KEY];
    assert!(used.input_tokens > 0 && used.unpriced_tokens > 0, "{used:?}");
    scene.agents.executor.review().await.expect("a review");
    assert_eq!(by_work(world).await[KEY], used, "it is counted as it was noted");
}

async fn a_summary_of_no_use_is_counted(store: SqlStore) {
    let scene = Scene::new(store).await;
    let request = scene.attend("ana", "tea").await;
    scene.will_write(" ");
    scene.summarizer.summarize(&request).await.expect_err("it is empty");
    assert_eq!(calls(&scene.agents.world, "- small summary").await, 1);
}

async fn a_recording_is_counted_for_its_agent(store: SqlStore) {
    let echo = json!({ "when": { "input": "(?s)^(.*)$" }, "calls": [
        { "tool": "sendTextMessage", "arguments": { "text": "{{1}}" } }] });
    let agents = Agents::new(store, &json!([echo])).await;
    agents.attended("ana").await;
    agents.file("ana", "f1", "audio/ogg", Ok("good morning"));
    agents.file("ana", "f2", "audio/ogg", Ok("two teas"));
    agents.send_audio("ana", "f1").await;
    agents.send_audio("ana", "f2").await;
    agents.serve("ana").await;
    for counted in [false, true] {
        let used = by_work(&agents.world).await;
        assert_eq!(used["sales ears transcription"], figures(2, 100, 10), "{counted}");
        agents.executor.review().await.expect("a review");
    }
}

/// A batch that is stored is counted once, whoever embedded it.
async fn vectors_are_counted_once_whatever_dies(store: SqlStore) {
    const KEY: &str = "- vectors embedding";
    let (world, library) = library(store).await;
    let text = long(70);
    let died = wherever_it_dies(async |polls| {
        let before = by_work(&world).await.get(KEY).copied().unwrap_or_default();
        let id = library.add("router1", "Book", &[], &text).await;
        let worked = async { while library.another_ingest().round().await.expect("a round") > 0 {} };
        let done = dies_after(polls, worked).await;
        library.work().await;
        let used = by_work(&world).await[KEY];
        let new = (used.calls - before.calls, used.input_tokens - before.input_tokens);
        assert_eq!(new, (2, 700), "after {polls} polls");
        library.knowledge.delete(&Author::default(), Reach::ALL, &id).await.expect("deleted");
        done
    })
    .await;
    assert!(died > 2, "{died}");
}

async fn vectors_of_what_is_replaced_meanwhile_are_counted(store: SqlStore) {
    let (world, library) = library(store).await;
    let id = library.add("router1", "Menu", &[], &long(3)).await;
    library.ingest.round().await.expect("read");
    let gate = library.teacher.gate.acquire_many(1_000).await.expect("a gate");
    let replaced = async {
        while library.teacher.asked.lock().expect("a lock").is_empty() {
            tokio::task::yield_now().await;
        }
        library.replace(&id, "Green tea").await;
        drop(gate);
    };
    let (round, ()) = tokio::join!(library.ingest.round(), replaced);
    round.expect("a round");
    assert_eq!(by_work(&world).await["- vectors embedding"], figures(1, 30, 0));
    library.work().await;
    assert_eq!(by_work(&world).await["- vectors embedding"], figures(2, 40, 0));
}

async fn searches_are_counted(store: SqlStore) {
    let (agents, library) = agents(store, &searching()).await;
    library.stock(&[("router1", "Menu", &[], "Green tea costs 12 reais.")]).await;
    agents.reach("ana", "about green tea").await;
    agents.serve("ana").await;
    let used = by_work(&agents.world).await;
    assert_eq!(
        (used["- vectors embedding"].calls, used["sales vectors embedding"].calls),
        (1, 1),
        "{used:?}"
    );
    library.find(json!({ "routerId": "router1", "query": "tea" })).await;
    let used = by_work(&agents.world).await;
    assert_eq!(used["- vectors embedding"], figures(2, 20, 0), "that of an administrator has no agent");
    assert_eq!(used["sales vectors embedding"], figures(1, 10, 0));
}

async fn vectors_without_a_model_are_not_counted(store: SqlStore) {
    let (world, library) = library(store).await;
    let id = library.add("router1", "Menu", &[], "Green tea").await;
    let (shared, offline) = (Arc::new(library.store().clone()), Arc::new(OfflineEmbedders));
    let ingest = Ingest::new(Arc::clone(&shared), world.cx.clone(), Arc::clone(&offline) as _);
    while ingest.round().await.expect("a round") > 0 {}
    assert_eq!(library.get(&id).await.status, DocumentStatus::Ready);
    let knowledge = Knowledge::new(shared, world.cx.clone(), offline, Arc::new(NoChangeLog));
    let search: SearchKnowledge =
        serde_json::from_value(json!({ "routerId": "router1", "query": "tea" })).expect("a search");
    let search = Reach::ALL.admit(search).expect("within reach");
    assert_eq!(knowledge.search(search).await.expect("passages").len(), 1);
    assert_eq!(by_work(&world).await, BTreeMap::new());
}

/// The figures of turns are what they were before other work was counted; days and months have all of it.
async fn work_is_told_apart(store: SqlStore) {
    let (agents, library) = agents(store, &searching()).await;
    agents.add_price("model", 1_000_000, 1_000_000).await;
    agents.reach("ana", "about green tea").await;
    agents.serve("ana").await;
    let turns = report(&agents.world, UsageFilter::default()).await.1;
    assert!(turns.calls > 0 && turns.input_tokens > 0, "{turns:?}");
    library.stock(&[("router1", "Menu", &[], "Green tea costs 12 reais.")]).await;
    for counted in [false, true] {
        let of = async |work| report(&agents.world, UsageFilter { work, ..UsageFilter::default() }).await.1;
        assert_eq!(of(Some(ModelWork::Turn)).await, turns, "{counted}");
        assert_eq!(of(Some(ModelWork::Embedding)).await, figures(1, 10, 0), "{counted}");
        assert_eq!(of(Some(ModelWork::Summary)).await, UsageFigures::default(), "{counted}");
        assert_eq!(of(None).await.input_tokens, turns.input_tokens + 10, "{counted}");
        let by = vec![UsageGrouping::Work];
        let (groups, _) = report(&agents.world, UsageFilter { by, ..UsageFilter::default() }).await;
        assert_eq!(groups.keys().map(String::as_str).collect::<Vec<_>>(), ["embedding", "turn"]);
        agents.executor.review().await.expect("a review");
    }
    assert_eq!(agents.spent().await, turns.cost.as_micros(), "what has no price costs nothing");
    agents.add_price(BILLED, 1_000_000, 0).await;
    library.find(json!({ "routerId": "router1", "query": "tea" })).await;
    agents.executor.review().await.expect("a review");
    assert_eq!(agents.spent().await, turns.cost.as_micros() + 10);
}

async fn no_summary_is_written_beyond_the_budget(store: SqlStore) {
    let scene = Scene::new(store).await;
    let agents = &scene.agents;
    for model in ["model", "small"] {
        agents.add_price(model, 1_000_000, 1_000_000).await;
    }
    let request = scene.attend("ana", "tea").await;
    agents.executor.review().await.expect("a review");
    let spent = agents.spent().await;
    agents.limit(spent, true).await;
    let asks = agents.mind.asks();
    scene.summarizer.summarize(&request).await.expect("nothing to do");
    assert_eq!((agents.mind.asks(), scene.last_summary("ana").await), (asks, None));
    agents.limit(spent + 1, true).await;
    scene.summarizer.summarize(&request).await.expect("written");
    assert_eq!(scene.last_summary("ana").await.as_deref(), Some("Tea."));
    agents.executor.review().await.expect("a review");
    assert!(agents.spent().await > spent, "summaries count");
}

async fn documents_wait_for_a_budget(store: SqlStore) {
    let (agents, library) = agents(store, &searching()).await;
    agents.add_price(BILLED, 1_000_000, 0).await;
    library.stock(&[("router1", "Menu", &[], "Green tea costs 12 reais.")]).await;
    agents.executor.review().await.expect("a review");
    assert_eq!(agents.spent().await, 10);
    agents.limit(10, true).await;
    library.teacher.asked();
    let id = library.add("router1", "Hours", &[], "We open at nine.").await;
    let other = library.add("router2", "Hours", &[], "We open at ten.").await;
    library.work().await;
    let waits = library.get(&id).await;
    assert_eq!((waits.status, waits.embedded), (DocumentStatus::Embedding, 0));
    assert_eq!(waits.error.as_deref(), Some("it waits: the budget of its router is used up"));
    assert_eq!(library.teacher.asked(), [1], "that of the other router");
    assert_eq!(library.get(&other).await.status, DocumentStatus::Ready);
    let found = library.find(json!({ "routerId": "router1", "query": "tea" })).await;
    assert_eq!(found, ["Green tea costs 12 reais."], "searches go on");

    agents.limit(1_000, true).await;
    library.work().await;
    assert_eq!(library.get(&id).await.status, DocumentStatus::Embedding, "it is not its time");
    agents.world.clock.advance(Duration::from_mins(10));
    library.work().await;
    let ready = library.get(&id).await;
    assert_eq!((ready.status, ready.error), (DocumentStatus::Ready, None));
}
