//! Frozen sessions go on where they stopped (rulings S5).

use std::sync::Arc;

use flowsdk_core::admin::session::{SessionError, Sessions, Unfreeze};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::conversation::{ConversationConsumer, ConversationEvent, Handover};
use flowsdk_core::event::{FlowEvent, Resume};
use flowsdk_core::flow::{FlowVersion, HasFlows as _};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::Reach;
use flowsdk_core::session::{FrozenError, FrozenSession, HasSessionCatalog as _, HasSessions as _, MAX_KEPT};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_core::stream::broker::{Broker as _, Entry};
use flowsdk_core::stream::consumer::{BatchHandler as _, Verdict, Work};
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::testkit::broker::GROUPS;
use flowsdk_store::sql::{SqlBroker, SqlStore};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::flows::{block, flow_of};
use super::world::{FAILED, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    what_was_kept_is_answered_in_order_and_once,
    what_was_answered_before_the_failure_is_not_answered_again,
    what_came_twice_is_kept_once,
    a_resumption_that_fails_again_leaves_the_rest,
    many_resumptions_at_once_are_one,
    a_session_that_could_not_begin_begins,
    entries_that_cannot_be_read_wait_in_order,
    what_is_more_than_one_call_takes_goes_on_by_itself,
    a_frozen_session_keeps_so_many_entries,
    a_session_goes_on_with_the_version_that_puts_it_right,
    a_deleted_session_leaves_nothing,
}

/// What `detour` says after it was put right.
fn right() -> Value {
    flow_of(&[block("back", "Right", &json!({ "flowId": "main", "blockId": "echo" }))])
}

pub(super) async fn publish_again(world: &World, flow: &str, definition: Value) {
    let version = FlowVersion {
        id: format!("{flow}-v2").parse().expect("an id"),
        flow_id: flow.parse().expect("an id"),
        router_id: world.router.clone(),
        flow_name: flow.to_owned(),
        number: 2,
        definition: definition.into(),
        created_at: world.cx.now(),
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.flows().publish(&version).await.expect("a version");
    tx.commit().await.expect("commit");
}

pub(super) async fn resume_of(world: &World, visitor: &str) -> Resume {
    let mut tx = world.store.read().await.expect("read");
    let item =
        tx.session_catalog().find_frozen(&session(visitor)).await.expect("find").expect("it is frozen");
    Resume { session_id: session(visitor), frozen_at: item.frozen.frozen_at }
}

/// A session that froze at `loop`, with `count` messages behind.
async fn frozen(world: &World, count: usize) -> Resume {
    assert_eq!(world.say("ana", "m1", "oi").await, ["Hello "]);
    assert_eq!(world.say("ana", "m2", "loop").await, [FAILED]);
    for n in 0..count {
        assert_eq!(world.say("ana", &format!("k{n}"), &format!("kept {n}")).await, [] as [&str; 0]);
    }
    resume_of(world, "ana").await
}

async fn what_was_kept_is_answered_in_order_and_once(store: SqlStore) {
    let world = World::new(store).await;
    let resume = frozen(&world, 3).await;
    publish_again(&world, "detour", right()).await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    let expected =
        ["Round", "Right", "You said loop", "You said kept 0", "You said kept 1", "You said kept 2"];
    assert_eq!(bodies(&report), expected);
    assert!(!world.stored("ana").await.expect("a session").frozen);
    for _ in 0..2 {
        assert_eq!(bodies(&world.conversations.resume(&resume).await.expect("resumed")), [] as [&str; 0]);
    }
    assert_eq!(world.say("ana", "m9", "on").await, ["You said on"]);
    let transcript = world.transcript_of("ana").await;
    let said: Vec<_> = transcript.iter().filter(|line| line.starts_with('>')).collect();
    assert_eq!(said, ["> oi", "> loop", "> kept 0", "> kept 1", "> kept 2", "> on"]);
    assert_eq!(world.sink.0.lock().expect("a lock").len(), 9, "every answer is handed over once");
}

async fn what_was_answered_before_the_failure_is_not_answered_again(store: SqlStore) {
    let world = World::new(store).await;
    world.say("ana", "m1", "oi").await;
    let texts = [("m2", "first"), ("m3", "loop"), ("m4", "last")];
    let texts = texts.map(|(id, text)| IncomingMessage::text(id, text)).to_vec();
    let report = world.handle(ConversationEvent::Incoming(world.event("ana", texts))).await;
    assert_eq!(bodies(&report), ["You said first", FAILED]);
    publish_again(&world, "detour", right()).await;
    let resume = resume_of(&world, "ana").await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    assert_eq!(bodies(&report), ["Round", "Right", "You said loop", "You said last"]);
}

async fn what_came_twice_is_kept_once(store: SqlStore) {
    let world = World::new(store).await;
    let resume = frozen(&world, 1).await;
    // The first of them is known: the channel sent it again, together with a new one.
    let texts = [IncomingMessage::text("k0", "kept 0"), IncomingMessage::text("m9", "new")].to_vec();
    let again = [ConversationEvent::Incoming(world.event("ana", texts))];
    world.try_handle(&again).await.expect("stored");
    publish_again(&world, "detour", right()).await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    assert_eq!(bodies(&report)[3..], ["You said kept 0", "You said new"]);
}

async fn a_resumption_that_fails_again_leaves_the_rest(store: SqlStore) {
    let world = World::new(store).await;
    let resume = frozen(&world, 1).await;
    world.say("ana", "m3", "loop").await;
    world.say("ana", "m4", "end").await;
    world.clock.advance(std::time::Duration::from_secs(1));
    // Nothing was put right.
    assert_eq!(bodies(&world.conversations.resume(&resume).await.expect("resumed")), [] as [&str; 0]);
    let again = resume_of(&world, "ana").await;
    assert_ne!(again.frozen_at, resume.frozen_at);
    assert_eq!(
        bodies(&world.conversations.resume(&resume).await.expect("resumed")),
        [] as [&str; 0],
        "stale"
    );
    publish_again(&world, "detour", right()).await;
    let report = world.conversations.resume(&again).await.expect("resumed");
    let expected = [
        "Round",
        "Right",
        "You said loop",
        "You said kept 0",
        "Round",
        "Right",
        "You said loop",
        "You said end",
    ];
    assert_eq!(bodies(&report), expected);
}

async fn many_resumptions_at_once_are_one(store: SqlStore) {
    let world = Arc::new(World::new(store).await);
    let resume = frozen(&world, 5).await;
    publish_again(&world, "detour", right()).await;
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (world, resume) = (Arc::clone(&world), resume.clone());
        tasks.spawn(async move {
            let handler = ConversationConsumer::new(Arc::clone(&world.conversations));
            let event = ConversationEvent::Flow(FlowEvent::Resume(resume));
            loop {
                let work = Work::detached("ana", event.clone());
                match handler.handle(&[work]).await.pop().expect("a verdict") {
                    Verdict::Done(_) => return,
                    Verdict::Retry { transient, reason, .. } => assert!(transient, "{reason}"),
                    Verdict::Dropped => unreachable!("nothing was cancelled"),
                    Verdict::Aside => unreachable!("a resumption is alone already"),
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic");
    }
    let transcript = world.transcript_of("ana").await;
    let answers: Vec<_> = transcript.iter().filter(|line| line.starts_with("< You said")).collect();
    let expected: Vec<_> = ["loop", "kept 0", "kept 1", "kept 2", "kept 3", "kept 4"]
        .map(|said| format!("< You said {said}"))
        .into();
    assert_eq!(answers, expected.iter().collect::<Vec<_>>());
}

async fn a_session_that_could_not_begin_begins(store: SqlStore) {
    let world = World::new(store).await;
    let event = world.text("bia", "m1", "oi");
    world
        .conversations
        .freeze(session("bia"), event.to_json(), "poison_entry", "broken")
        .await
        .expect("frozen");
    assert_eq!(world.say("bia", "m2", "dois").await, [] as [&str; 0]);
    let mut tx = world.store.read().await.expect("read");
    let item = tx.session_catalog().find_frozen(&session("bia")).await.expect("find").expect("it is frozen");
    assert_eq!(
        (item.router_id.as_ref(), item.mode),
        (Some(&world.router), None),
        "the router of its channel"
    );
    drop(tx);
    let resume = resume_of(&world, "bia").await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    assert_eq!(bodies(&report), ["Hello ", "You said dois"]);
    let said = world.transcript_of("bia").await;
    assert_eq!(said.iter().filter(|line| line.starts_with('>')).count(), 2, "{said:?}");
}

async fn entries_that_cannot_be_read_wait_in_order(store: SqlStore) {
    let world = World::new(store).await;
    let handler = ConversationConsumer::new(Arc::clone(&world.conversations));
    // A newer program wrote them; this one reads them once it is brought up to date.
    let payload = |id: &str| world.text("ana", id, id).to_json().to_string();
    // The last is given again, as one that was not acknowledged.
    for id in ["m1", "m2", "m3", "m3"] {
        let entry = Entry { id: id.to_owned(), key: "wc-c1-ana".to_owned(), payload: payload(id) };
        handler.unreadable(TopicName::Incoming, &entry, "no number").await.expect("set aside");
    }
    let resume = resume_of(&world, "ana").await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    assert_eq!(bodies(&report), ["Hello ", "You said m2", "You said m3"]);
}

async fn what_is_more_than_one_call_takes_goes_on_by_itself(store: SqlStore) {
    let broker = SqlBroker::new(store.clone());
    let world = World::new(store).await;
    let resume = frozen(&world, 100).await;
    publish_again(&world, "detour", right()).await;
    let first = world.conversations.resume(&resume).await.expect("resumed");
    assert!(first.outgoing.len() < 100);
    assert_eq!(world.say("ana", "late", "behind").await, [] as [&str; 0], "it waits behind the others");
    let stream = StreamPartition { topic: TopicName::Flow, index: 0 };
    let backlog = broker.backlog(stream, GROUPS[0]).await.expect("a number");
    assert_eq!(backlog, 1, "the rest is another event's");
    let second = world.conversations.resume(&resume).await.expect("resumed");
    let said: Vec<_> = bodies(&first).into_iter().chain(bodies(&second)).collect();
    let expected: Vec<_> = ["Round", "Right", "You said loop"]
        .into_iter()
        .map(str::to_owned)
        .chain((0..100).map(|n| format!("You said kept {n}")))
        .chain(["You said behind".to_owned()])
        .collect();
    assert_eq!(said, expected);
}

async fn a_frozen_session_keeps_so_many_entries(store: SqlStore) {
    let world = World::new(store).await;
    frozen(&world, 0).await;
    let many: Vec<_> = (2..1_000).map(|n| (session("ana"), json!({ "n": n }))).collect();
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().keep_entries(&many, MAX_KEPT).await.expect("kept");
    tx.commit().await.expect("commit");
    for n in ["first", "second", "third", "fourth"] {
        let report = world.handle(world.text("ana", n, n)).await;
        assert!(report.frozen && report.stored.iter().all(|stored| !stored.duplicate), "{n}");
    }
    // Given again, it is known, though it was not kept.
    let again = [world.text("ana", "fourth", "fourth")];
    assert!(world.try_handle(&again).await.expect("handled")[0].stored[0].duplicate);
    let transcript = world.transcript_of("ana").await;
    assert_eq!(transcript[transcript.len() - 4..], ["> first", "> second", "> third", "> fourth"]);
    let mut tx = world.store.begin().await.expect("begin");
    let mut kept = Vec::new();
    while let Some(entry) = tx.sessions().take_kept(&session("ana")).await.expect("taken") {
        kept.push(entry);
    }
    assert_eq!(kept.len(), 1_000);
    assert_eq!(kept[998]["messages"][0]["id"], "first");
    assert_eq!(kept[999]["messages"][0]["id"], "second");
}

async fn a_session_goes_on_with_the_version_that_puts_it_right(store: SqlStore) {
    let world = World::new(store).await;
    let lost = flow_of(&[block("only", "Lost", &json!({ "flowId": "nowhere" }))]);
    world.publish("router1", "lost", lost).await;
    world.start_with("router1", "lost").await;
    assert_eq!(world.say("caio", "m1", "oi").await, [FAILED]);
    world.say("caio", "m2", "dois").await;
    let found = flow_of(&[block("only", "Found", &json!({ "flowId": "main", "blockId": "echo" }))]);
    publish_again(&world, "lost", found).await;
    let resume = resume_of(&world, "caio").await;
    let report = world.conversations.resume(&resume).await.expect("resumed");
    assert_eq!(bodies(&report), ["Found", "You said ", "You said dois"]);
}

async fn a_deleted_session_leaves_nothing(store: SqlStore) {
    let world = World::new(store).await;
    let resume = frozen(&world, 2).await;
    let sessions =
        Sessions::new(Arc::clone(&world.store), world.cx.clone(), Arc::new(NoChangeLog), Handover::Stream);
    let only = ["other".parse().expect("an id")];
    let foreign =
        sessions.unfreeze(&Author::default(), Reach::only(&only), &session("ana"), Unfreeze::Delete).await;
    assert!(matches!(foreign, Err(SessionError::NotFound)), "{foreign:?}");
    sessions
        .unfreeze(&Author::default(), Reach::ALL, &session("ana"), Unfreeze::Delete)
        .await
        .expect("deleted");
    let gone = sessions.unfreeze(&Author::default(), Reach::ALL, &session("ana"), Unfreeze::Resume).await;
    assert!(matches!(gone, Err(SessionError::NotFound)), "{gone:?}");
    assert_eq!(bodies(&world.conversations.resume(&resume).await.expect("nothing")), [] as [&str; 0]);
    assert_eq!(world.say("ana", "m9", "de novo").await, ["Hello "], "she begins anew");
    let live = sessions.unfreeze(&Author::default(), Reach::ALL, &session("ana"), Unfreeze::Delete).await;
    assert!(matches!(live, Err(SessionError::NotFrozen)), "{live:?}");
    // Nothing of before comes back should it freeze again.
    let error = FrozenError { code: "x".to_owned(), message: "x".to_owned() };
    let frozen = FrozenSession {
        session_id: session("ana"),
        error,
        entry: world.text("ana", "m9", "de novo").to_json(),
        frozen_at: world.cx.now(),
    };
    let mut tx = world.store.begin().await.expect("begin");
    tx.sessions().freeze_many(&[frozen]).await.expect("frozen");
    assert_eq!(tx.sessions().take_kept(&session("ana")).await.expect("kept"), None);
}
