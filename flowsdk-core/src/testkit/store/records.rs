//! The records that turns write for others to read: opt-ins, labels, events, traces.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::world::{World, contact, later, router, session_id};
use super::{Samples, StoreUnderTest};
use crate::admin::session::TraceRetention;
use crate::chat::ChatTag;
use crate::contact::{ContactOptIn, OptInSource, OptInStatus};
use crate::event_definition::{
    EventDefinition, EventProperty, HasEventCounts, MOST_COUNTED, Occurrences, PropertyType,
};
use crate::flow::TrackedEvent;
use crate::id::RouterId;
use crate::page::PageRequest;
use crate::prelude::*;
use crate::record::HasRecords;
use crate::session::{MAX_TRACES, SessionTrace};
use crate::store::Store;
use crate::testkit::store::StoreTx;
use crate::time::Timestamp;
use crate::transfer::OnConflict;
use crate::transfer::draft::{
    CheckedDraft, DraftCheck, DraftFilter, DraftFinding, DraftStatus, HasImportDrafts, ImportDraft,
};

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
    assert_eq!(found.as_ref(), Some(&import));
    let other = tx.contacts().insert_or_get(&contact(&world.cx, 7)).await.expect("a contact").id;
    assert_eq!(tx.opt_ins().current(&other, &world.router).await.expect("current"), None);
    let among = [world.contact.clone(), other.clone()];
    assert_eq!(tx.opt_ins().current_among(&among).await.expect("current"), std::slice::from_ref(&import));
    assert_eq!(tx.opt_ins().current_among(&[other]).await.expect("current"), []);
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

fn definition(id: &str, router_id: &RouterId, name: &str, at: Timestamp) -> EventDefinition {
    EventDefinition {
        id: id.parse().expect("an id"),
        router_id: router_id.clone(),
        name: name.parse().expect("a name"),
        description: Some("Ação 👋".to_owned()),
        properties: vec![EventProperty {
            key: "plano".to_owned(),
            kind: PropertyType::Number,
            description: None,
            required: true,
        }],
        created_at: at,
        updated_at: at,
    }
}

/// A definition is read back as it was saved, has a name of its own in its router, and is gone with it. Its events are
/// counted, and names without a definition are known.
pub async fn event_definitions_are_read_back_with_their_counts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx + HasRecords<EventDefinition> + HasEventCounts,
{
    let samples = Samples {
        record: |id, router, number, at| definition(id, router, ["a", "c"][number], at),
        states: |first| {
            let first = EventDefinition { updated_at: later(5), ..first.clone() };
            let empty = EventDefinition { description: None, properties: vec![], ..first.clone() };
            vec![empty, EventDefinition { name: "b".parse().expect("a name"), ..first }]
        },
        filter: |router| router,
        is_unique: true,
    };
    samples.are_kept(&subject).await;
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let other = router("other");
    tx.routers().insert(&other).await.expect("a router");
    let first = definition("e1", &world.router, "a", later(0));
    let second = definition("e2", &world.router, "c", later(1));
    let third = definition("e3", &other.id, "a", later(1));
    for definition in [&first, &second, &third] {
        tx.records().insert(definition).await.expect("insert");
    }
    let event = |router_id: &RouterId, name: &str, at| TrackedEvent {
        id: world.cx.ids().next_id(),
        router_id: router_id.clone(),
        flow_id: "f1".parse().expect("an id"),
        block_id: "b1".parse().expect("an id"),
        session_id: session_id(1),
        contact_id: world.contact.clone(),
        chat_id: world.chat.clone(),
        name: name.to_owned(),
        properties: serde_json::Map::new(),
        created_at: later(at),
    };
    let mut events =
        vec![event(&world.router, "a", 3), event(&world.router, "a", 9), event(&other.id, "a", 50)];
    events.extend(["b", "b", "c'é", "d"].map(|name| event(&world.router, name, 7)));
    events.extend((0..u64::from(MOST_COUNTED) + 5).map(|n| event(&other.id, "many", n)));
    tx.tracked_events().append_many(&events).await.expect("append");
    let ids = [&first, &second, &third].map(|definition| definition.id.clone());
    let counts = tx.event_counts().of_definitions(&ids).await.expect("counts");
    let found = ids.map(|id| counts[&id]);
    let expected = [(2, Some(later(9))), (0, None), (1, Some(later(50)))];
    assert_eq!(found, expected.map(|(count, last)| Occurrences::new(count, last)));
    let names = ["b".to_owned(), "c'é".to_owned(), "nobody".to_owned()];
    let counts = tx.event_counts().of_names(&world.router, &names).await.expect("counts");
    let found = names.map(|name| (counts[&name].count(), counts[&name].last_seen_at()));
    assert_eq!(found, [(2, Some(later(7))), (1, Some(later(7))), (0, None)]);
    let many = ["many".to_owned()];
    let counts = tx.event_counts().of_names(&other.id, &many).await.expect("counts");
    let many = counts["many"];
    assert_eq!((many.count(), many.is_exact()), (MOST_COUNTED, false));
    for (after, limit, expected) in [
        ("", 10, vec![("a", true), ("b", false), ("c'é", false), ("d", false)]),
        ("", 2, vec![("a", true), ("b", false)]),
        ("b", 2, vec![("c'é", false), ("d", false)]),
        ("d", 2, vec![]),
    ] {
        let found = tx.event_counts().tracked_names(&world.router, after, limit).await.expect("names");
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.is_defined)).collect();
        assert_eq!(found, expected, "{after}");
    }
}

/// A draft is read back as it was saved, with its plan and its file apart; those that have expired are not listed, and go.
pub async fn import_drafts_are_read_back_until_they_expire<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx + HasImportDrafts,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let check = DraftCheck {
        warnings: vec![DraftFinding {
            place: "a".to_owned(),
            portuguese: "é".to_owned(),
            english: "e".to_owned(),
        }],
        ..DraftCheck::default()
    };
    let draft = |id: &str, at| CheckedDraft {
        draft: ImportDraft {
            id: id.parse().expect("an id"),
            router_id: world.router.clone(),
            on_conflict: OnConflict::Replace,
            status: DraftStatus::Pending,
            size: 7,
            is_valid: true,
            created_at: later(at),
            expires_at: later(at + 10),
            applied_at: None,
        },
        check: check.clone(),
    };
    let (first, second) = (draft("i1", 0), draft("i2", 1));
    for draft in [&first, &second] {
        tx.import_drafts().insert(draft, r#"{"a":  "é"}"#).await.expect("insert");
    }
    let id = &first.draft.id;
    assert_eq!(tx.import_drafts().file(id).await.expect("a file").as_deref(), Some(r#"{"a":  "é"}"#));
    assert_eq!(tx.import_drafts().check(id).await.expect("a plan"), Some(check.clone()));
    let status = DraftStatus::Applied;
    let applied = ImportDraft { status, applied_at: Some(later(5)), ..first.draft.clone() };
    tx.import_drafts().save(&applied).await.expect("save");
    assert_eq!(tx.import_drafts().find(id).await.expect("find").as_ref(), Some(&applied));
    assert_eq!(tx.import_drafts().find_for_update(id).await.expect("find").as_ref(), Some(&applied));
    let all = PageRequest::default();
    for (now, expected) in [(9, vec![&second.draft, &applied]), (10, vec![&second.draft]), (11, vec![])] {
        let now = later(now);
        let filter = DraftFilter { router_id: Some(world.router.clone()), now };
        let page = tx.import_drafts().list(&filter, None, &all).await.expect("list");
        assert_eq!(page.items.iter().collect::<Vec<_>>(), expected, "{now:?}");
        let count = tx.import_drafts().count(&world.router, now).await.expect("count");
        assert_eq!(count, i64::try_from(expected.len()).expect("few"));
    }
    let filter = DraftFilter { router_id: None, now: later(0) };
    assert_eq!(tx.import_drafts().list(&filter, Some(&[]), &all).await.expect("list").items, []);
    assert_eq!(tx.import_drafts().purge(later(9), 10).await.expect("purge"), 0);
    assert_eq!(tx.import_drafts().purge(later(10), 10).await.expect("purge"), 1);
    assert_eq!(tx.import_drafts().file(id).await.expect("a file"), None);
    tx.import_drafts().delete(&second.draft.id).await.expect("delete");
    assert_eq!(tx.import_drafts().check(&second.draft.id).await.expect("a plan"), None);
    tx.import_drafts().insert(&first, "{}").await.expect("insert");
    tx.router_catalog().delete(&world.router).await.expect("delete");
    assert_eq!(tx.import_drafts().find(id).await.expect("find"), None);
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
