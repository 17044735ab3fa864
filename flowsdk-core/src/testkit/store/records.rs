//! The records that turns write for others to read: opt-ins, labels, events, traces.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::StoreUnderTest;
use super::world::{World, contact, later, session_id};
use crate::admin::session::TraceRetention;
use crate::chat::ChatTag;
use crate::contact::{ContactOptIn, OptInSource, OptInStatus};
use crate::flow::TrackedEvent;
use crate::prelude::*;
use crate::session::{MAX_TRACES, SessionTrace};
use crate::store::Store;
use crate::testkit::store::StoreTx;

/// Of the opt-ins of a contact and router the newest counts; those of others do not.
pub async fn the_newest_opt_in_counts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let record = |seconds: u64, status: OptInStatus| ContactOptIn {
        id: world.cx.ids().next_id(),
        contact_id: world.contact.clone(),
        router_id: world.router.clone(),
        status,
        chat_id: Some(world.chat.clone()),
        source: OptInSource::Flow,
        recorded_at: later(seconds),
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.opt_ins().append_many(&[]).await.expect("append nothing");
    assert_eq!(tx.opt_ins().current(&world.contact, &world.router).await.expect("current"), None);
    let records =
        [record(1, OptInStatus::Accepted), record(3, OptInStatus::Revoked), record(2, OptInStatus::Accepted)];
    tx.opt_ins().append_many(&records).await.expect("append");
    let found = tx.opt_ins().current(&world.contact, &world.router).await.expect("current");
    assert_eq!(found.as_ref(), Some(&records[1]));
    // Of one moment the later record counts, and an import belongs to no chat.
    let import =
        ContactOptIn { chat_id: None, source: OptInSource::Import, ..record(3, OptInStatus::Accepted) };
    tx.opt_ins().append_many(std::slice::from_ref(&import)).await.expect("append");
    let found = tx.opt_ins().current(&world.contact, &world.router).await.expect("current");
    assert_eq!(found, Some(import));
    let other = tx.contacts().insert_or_get(&contact(&world.cx, 7)).await.expect("a contact").id;
    assert_eq!(tx.opt_ins().current(&other, &world.router).await.expect("current"), None);
    tx.commit().await.expect("commit");
}

/// A chat has each label once, with the moment it first got it.
pub async fn a_chat_has_each_label_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let tag = |tag: &str, seconds: u64| ChatTag {
        chat_id: world.chat.clone(),
        tag: tag.to_owned(),
        created_at: later(seconds),
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.chat_tags().add_many(&[tag("vip", 1), tag("açaí 👋", 1), tag("vip", 2)]).await.expect("add");
    tx.chat_tags().add_many(&[tag("vip", 3), tag("b", 3)]).await.expect("add");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let found = tx.chat_tags().of_chat(&world.chat).await.expect("tags");
    assert_eq!(found, [tag("açaí 👋", 1), tag("b", 3), tag("vip", 1)]);
}

/// Events come back whole, the newest first.
pub async fn tracked_events_are_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let event = |n: u64| TrackedEvent {
        id: world.cx.ids().next_id(),
        router_id: world.router.clone(),
        flow_id: "f1".parse().expect("an id"),
        block_id: "b1".parse().expect("an id"),
        session_id: session_id(1),
        contact_id: world.contact.clone(),
        chat_id: world.chat.clone(),
        name: format!("event {n}"),
        properties: serde_json::Map::from_iter([("n".to_owned(), json!([n, "é", null]))]),
        created_at: later(n),
    };
    let events: Vec<_> = (0..150).map(event).collect();
    let mut tx = world.store.begin().await.expect("begin");
    tx.tracked_events().append_many(&events).await.expect("append");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let found = tx.tracked_events().latest(&world.router, 3).await.expect("latest");
    assert_eq!(found, [events[149].clone(), events[148].clone(), events[147].clone()]);
}

/// The traces of a session come newest first, page by page, and do not grow without end.
pub async fn traces_of_a_session_are_bounded<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let trace = |n: usize, version: i64| SessionTrace {
        session_id: session_id(n),
        router_id: Some(world.router.clone()),
        contact_id: None,
        version,
        event: "message".to_owned(),
        steps: json!([{ "step": "blockEntered", "blockId": "b1" }, version]),
        created_at: later(version.unsigned_abs()),
    };
    let mut tx = world.store.begin().await.expect("begin");
    for version in 1..=250 {
        tx.traces().store_many(&[trace(1, version), trace(2, version)]).await.expect("store");
    }
    // A turn that is tried again stores the same.
    tx.traces().store_many(&[trace(1, 250)]).await.expect("store");
    tx.commit().await.expect("commit");
    let mut tx = world.store.read().await.expect("read");
    let mut versions = Vec::new();
    let mut before = None;
    loop {
        let page = tx.traces().trace(&session_id(1), before, 40).await.expect("a page");
        let Some(last) = page.last() else { break };
        before = Some(last.version);
        assert_eq!(page[0], trace(1, page[0].version));
        versions.extend(page.into_iter().map(|trace| trace.version));
    }
    let expected: Vec<i64> = (251 - i64::from(MAX_TRACES)..=250).rev().collect();
    assert_eq!(versions, expected);
    assert_eq!(tx.traces().trace(&session_id(9), None, 10).await.expect("a page"), []);
    drop(tx);
    // Of each session 151 to 250 are kept.
    let mut tx = world.store.begin().await.expect("begin");
    assert_eq!(tx.traces().purge(later(151), 10).await.expect("purge"), 0);
    assert_eq!(tx.traces().purge(later(160), 10).await.expect("purge"), 10);
    assert_eq!(tx.traces().purge(later(160), 10).await.expect("purge"), 8);
    let oldest = tx.traces().trace(&session_id(1), Some(161), 10).await.expect("a page");
    assert_eq!(oldest, [trace(1, 160)]);
    tx.commit().await.expect("commit");
    let retention = TraceRetention::new(Arc::clone(&world.store), Duration::from_millis(1));
    assert_eq!(retention.tick(later(171)).await.expect("a tick"), 20);
    assert_eq!(retention.tick(later(171)).await.expect("a tick"), 0);
    assert_eq!(retention.tick(later(9_999)).await.expect("a tick"), 162);
}
