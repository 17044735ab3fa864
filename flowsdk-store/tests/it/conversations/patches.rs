//! Variables from outside while turns run: nobody loses what the other wrote (rulings S6).

use std::sync::Arc;

use flowsdk_core::admin::contact::Contacts;
use flowsdk_core::admin::session::{SessionError, Sessions};
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::conversation::{ConversationError, ConversationEvent, Handover};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::Reach;
use flowsdk_core::session::SentVariables;
use flowsdk_store::sql::SqlStore;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::flows::{block, flow_of};
use super::world::{World, session};
use crate::support::databases::on_every_database;

on_every_database! { nothing_is_lost_between_turns_and_patches, nothing_is_lost_between_first_turns_and_patches }

const TURNS: usize = 25;
const PATCHES: usize = 25;

fn variables(value: Value) -> SentVariables {
    SentVariables::check(value.as_object().expect("an object").clone()).expect("good ones")
}

async fn nothing_is_lost_between_turns_and_patches(store: SqlStore) {
    let world = Arc::new(World::new(store).await);
    world.say("ana", "m0", "oi").await;
    let sessions = Arc::new(Sessions::new(
        Arc::clone(&world.store),
        world.cx.clone(),
        Arc::new(NoChangeLog),
        Handover::Stream,
    ));
    let mut tasks = JoinSet::new();
    for lane in 0..3 {
        let sessions = Arc::clone(&sessions);
        tasks.spawn(async move {
            for n in 0..PATCHES {
                let sent = variables(
                    json!({ format!("p{lane}.{n}").replace('.', "_"): n, "shared": { "by": lane } }),
                );
                let stored =
                    sessions.merge_variables(&Author::default(), Reach::ALL, &session("ana"), &sent).await;
                let stored = stored.expect("a patch is tried until it holds");
                assert!(sent.iter().all(|(key, value)| stored.get(key) == Some(value)), "{stored:?}");
            }
        });
    }
    let turns = Arc::clone(&world);
    tasks.spawn(async move {
        for n in 0..TURNS {
            let event = turns.text("ana", &format!("t{n}"), &format!("turn {n}"));
            loop {
                match turns.try_handle(std::slice::from_ref(&event)).await {
                    Ok(_) => break,
                    Err(ConversationError::Storage(error)) if error.is_transient() => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
    });
    while let Some(done) = tasks.join_next().await {
        done.expect("no panic");
    }
    let session = world.stored("ana").await.expect("a session").session;
    for lane in 0..3 {
        for n in 0..PATCHES {
            assert_eq!(session.variables[&format!("p{lane}_{n}")], json!(n));
        }
    }
    assert_eq!(session.variables["answer"], format!("turn {}", TURNS - 1));
    let answers =
        world.transcript_of("ana").await.iter().filter(|line| line.starts_with("< You said")).count();
    assert_eq!(answers, TURNS, "every turn ran once");
    let gone = sessions
        .merge_variables(
            &Author::default(),
            Reach::ALL,
            &super::world::session("bia"),
            &SentVariables::default(),
        )
        .await;
    assert!(matches!(gone, Err(SessionError::NotFound)), "{gone:?}");
}

/// The first turn of a session finds its contact by another way than the later ones.
async fn nothing_is_lost_between_first_turns_and_patches(store: SqlStore) {
    let world = Arc::new(World::new(store).await);
    for n in 0..TURNS {
        let mut only = block("only", "Noted", &json!({ "end": true }));
        let key = format!("turn{n}");
        only["onEnter"] = json!([{ "type": "setContactVariable", "key": key, "value": "x" }]);
        world.publish("router1", &format!("flow{n}"), flow_of(&[only])).await;
    }
    let contacts = Arc::new(Contacts::new(Arc::clone(&world.store), world.cx.clone(), Arc::new(NoChangeLog)));
    let ana = world.contact("ana").await.id;
    let mut patches = JoinSet::new();
    patches.spawn(async move {
        for n in 0..PATCHES {
            let sent = variables(json!({ format!("patch{n}"): n }));
            contacts.merge_variables(&Author::default(), Reach::ALL, &ana, &sent).await.expect("merged");
        }
    });
    for n in 0..TURNS {
        let mut event = world.event("ana", vec![IncomingMessage::text(format!("m{n}"), "oi")]);
        event.flow_id = Some(format!("flow{n}").parse().expect("an id"));
        let event = ConversationEvent::Incoming(event);
        while let Err(error) = world.try_handle(std::slice::from_ref(&event)).await {
            let ConversationError::Storage(error) = error;
            assert!(error.is_transient(), "{error}");
        }
    }
    patches.join_all().await;
    let variables = world.contact("ana").await.variables;
    let missing: Vec<String> = (0..TURNS)
        .map(|n| format!("turn{n}"))
        .chain((0..PATCHES).map(|n| format!("patch{n}")))
        .filter(|key| !variables.contains_key(key))
        .collect();
    assert_eq!(missing, [""; 0]);
}
