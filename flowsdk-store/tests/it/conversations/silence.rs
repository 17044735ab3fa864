//! Contacts whom nothing else answers are told so, once.

use std::time::Duration;

use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::router::{Fallback, FallbackTexts, HasRouters as _, Router, Wording};
use flowsdk_core::store::Store as _;
use flowsdk_core::text::Language;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};

use super::flows::{block, flow_of};
use super::resumption::resume_of;
use super::world::{FAILED, UNANSWERED, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_contact_is_told_once_that_their_session_froze,
    a_session_that_freezes_after_its_answers_says_so_behind_them,
    a_session_that_is_set_aside_tells_its_contact,
    a_contact_is_told_once_a_day_that_no_flow_answers,
    many_contacts_are_told_in_one_commit,
    a_repetition_is_not_answered,
    texts_are_those_of_the_channel_and_its_router,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A flow that goes round until the turn is too long.
fn endless() -> Value {
    flow_of(&[block("b", "Round", &json!({ "flowId": "bad", "blockId": "b" }))])
}

/// A world whose visitors `other-…` write to a router without a flow.
async fn world_without_a_flow(store: SqlStore) -> World {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    for visitor in ["other-ana", "other-bia"] {
        world.add_visitor(visitor).await;
    }
    world
}

async fn a_contact_is_told_once_that_their_session_froze(store: SqlStore) {
    let world = World::new(store).await;
    world.publish("router1", "bad", endless()).await;
    world.start_with("router1", "bad").await;
    assert_eq!(world.say("ana", "m1", "oi").await, [FAILED]);
    assert_eq!(world.say("ana", "m2", "oi?").await, [""; 0], "they know");
    let resumed = world.conversations.resume(&resume_of(&world, "ana").await).await.expect("resumed");
    assert_eq!(bodies(&resumed), [""; 0], "it froze again, and they know");
    assert_eq!(world.transcript_of("ana").await, ["> oi", &format!("< {FAILED}"), "> oi?"]);
    assert_eq!(world.sink.0.lock().expect("a lock").len(), 1, "it is handed over");
}

async fn a_session_that_freezes_after_its_answers_says_so_behind_them(store: SqlStore) {
    let world = World::new(store).await;
    let stuck = json!({ "blockId": "stuck" });
    let action = json!({ "type": "executeScript", "script": "1", "variable": "x" });
    let definition = flow_of(&[
        block("say", "One moment", &stuck),
        json!({ "id": "stuck", "type": "content", "title": "Stuck", "position": { "x": 0, "y": 0 },
            "onEnter": [action], "contents": [], "defaultOutput": { "end": true } }),
    ]);
    world.publish("router1", "script", definition).await;
    world.start_with("router1", "script").await;
    // Nothing here runs scripts, and the action has no error target.
    assert_eq!(world.say("ana", "m1", "oi").await, ["One moment", FAILED]);
    assert_eq!(world.transcript_of("ana").await, ["> oi", "< One moment", &format!("< {FAILED}")]);
}

async fn a_session_that_is_set_aside_tells_its_contact(store: SqlStore) {
    let world = World::new(store).await;
    assert_eq!(world.say("ana", "m1", "oi").await, ["Hello "]);
    for _ in 0..2 {
        let frozen =
            world.conversations.freeze(session("ana"), json!({}), "poison_entry", "as the test wants");
        frozen.await.expect("frozen");
    }
    let nobody = world.conversations.freeze(session("bia"), json!({}), "poison_entry", "as the test wants");
    nobody.await.expect("a session that has not begun has no chat to say it in");
    assert_eq!(world.transcript_of("ana").await, ["> oi", "< Hello ", &format!("< {FAILED}")]);
    let handed: Vec<Option<i64>> =
        world.sink.0.lock().expect("a lock").iter().map(|event| event.seq).collect();
    assert_eq!(handed, [Some(2), Some(3)]);
}

async fn a_contact_is_told_once_a_day_that_no_flow_answers(store: SqlStore) {
    let world = world_without_a_flow(store).await;
    assert_eq!(world.say("other-ana", "m1", "oi").await, [UNANSWERED]);
    world.clock.advance(DAY - Duration::from_millis(1));
    assert_eq!(world.say("other-ana", "m2", "oi?").await, [""; 0]);
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(world.say("other-ana", "m3", "alô?").await, [UNANSWERED]);
    assert_eq!(world.stored("other-ana").await, None, "no session begins");
}

async fn many_contacts_are_told_in_one_commit(store: SqlStore) {
    let world = world_without_a_flow(store).await;
    world.publish("router1", "bad", endless()).await;
    world.start_with("router1", "bad").await;
    assert_eq!(world.say("other-bia", "m0", "oi").await, [UNANSWERED]);
    let events = [
        world.text("other-ana", "m1", "oi"),
        world.text("ana", "m2", "oi"),
        world.text("other-bia", "m3", "oi?"),
    ];
    let reports = world.try_handle(&events).await.expect("handled");
    let said: Vec<_> = reports.iter().map(bodies).collect();
    assert_eq!(said, [vec![UNANSWERED], vec![FAILED], vec![]]);
}

async fn a_repetition_is_not_answered(store: SqlStore) {
    let world = world_without_a_flow(store).await;
    assert_eq!(world.say("other-ana", "m1", "oi").await, [UNANSWERED]);
    world.clock.advance(DAY);
    assert_eq!(world.say("other-ana", "m1", "oi").await, [""; 0]);
    assert_eq!(world.say("other-ana", "m2", "oi?").await, [UNANSWERED]);
}

async fn texts_are_those_of_the_channel_and_its_router(store: SqlStore) {
    let world = World::new(store).await;
    let texts = |failed: Option<&str>, unanswered: Option<&str>| FallbackTexts {
        failed: failed.map(str::to_owned),
        unanswered: unanswered.map(str::to_owned),
        stuck_handoff: None,
    };
    let now = world.cx.now();
    let router = Router {
        fallback_texts: texts(None, Some("of the router")),
        ..Router::new("router2".parse().expect("an id"), "Loja", now)
    };
    let channel = |id: &str| WebchatChannel::new(id.parse().expect("an id"), router.id.clone(), "Chat", now);
    let german = json!({ "language": "de" });
    let channels = [
        channel("plain"),
        WebchatChannel { fallback_texts: texts(None, Some("of the channel")), ..channel("worded") },
        WebchatChannel { fallback_texts: texts(Some("x"), Some("")), ..channel("silent") },
        WebchatChannel { appearance: Some(german), ..channel("german") },
    ];
    let mut tx = world.store.begin().await.expect("begin");
    tx.routers().insert(&router).await.expect("a router");
    for channel in &channels {
        tx.webchat().insert_channel(channel).await.expect("a channel");
    }
    let ids = ["wc-plain", "wc-worded", "wc-silent", "wc-german", "wc-c1", "wc-nobody"].map(str::to_owned);
    let mut found = tx.routers().wordings(&ids).await.expect("wordings");
    drop(tx);
    found.sort_by_key(|wording| ids.iter().position(|id| *id == wording.phone_number_id));
    let said = |fallback| {
        let text = |wording: &Wording| {
            wording
                .text(fallback, Language::English)
                .map(|text| text.split(' ').next_back().unwrap_or("").to_owned())
        };
        found.iter().map(text).collect::<Vec<_>>()
    };
    let some = |texts: [&str; 5]| texts.map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()));
    assert_eq!(said(Fallback::Unanswered), some(["router", "channel", "", "router", "now."]));
    assert_eq!(said(Fallback::Failed), some(["kept.", "kept.", "x", "gespeichert.", "kept."]));
}
