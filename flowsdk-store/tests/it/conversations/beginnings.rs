//! First messages.

use flowsdk_core::conversation::{ConversationEvent, TurnReport};
use flowsdk_core::message::{Direction, HasMessages as _, IncomingMessage, MessageStatus};
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::SqlStore;
use serde_json::json;

use super::flows::{block, flow_of};
use super::world::{UNANSWERED, World, bodies, session};
use crate::support::databases::on_every_database;

on_every_database! {
    a_first_message_begins_a_session,
    what_leads_nowhere_is_dropped,
    a_router_without_a_flow_only_stores,
    the_contact_of_a_webchat_is_the_gateways_business,
    a_token_starts_the_flow_it_names_within_its_router,
    a_tokens_flow_leads_through_the_initial_one,
    a_hundred_sessions_begin_in_one_commit,
    the_order_within_a_chat_is_the_order_of_the_conversation,
    messages_of_one_event_are_answered_one_by_one,
}

async fn a_first_message_begins_a_session(store: SqlStore) {
    let world = World::new(store).await;
    let report = world.handle(world.text("ana", "m1", "oi")).await;
    assert_eq!(bodies(&report), ["Hello "]);
    let stored = world.stored("ana").await.expect("a session").session;
    assert_eq!((stored.router_id, stored.contact_id), (world.router.clone(), world.contact("ana").await.id));
    let history = world.history(&stored.chat_id).await;
    let rows: Vec<_> =
        history.iter().map(|m| (m.direction, m.status, m.channel_message_id.as_deref())).collect();
    let expected = [(Direction::In, None, Some("m1")), (Direction::Out, Some(MessageStatus::Sent), None)];
    assert_eq!(rows, expected);
    assert_eq!((&report.stored[0].id, report.stored[0].duplicate), (&history[0].id, false));
    assert_eq!(report.outgoing[0].internal_id, history[1].id);
    assert_eq!(*world.sink.0.lock().expect("a lock"), report.outgoing);
    assert_eq!(world.say("ana", "m2", "olá").await, ["You said olá"]);
}

async fn what_leads_nowhere_is_dropped(store: SqlStore) {
    let world = World::new(store).await;
    for visitor in ["nobody", "other-ana"] {
        for _ in 0..2 {
            let report = world.handle(world.text(visitor, visitor, "oi")).await;
            assert_eq!(report, TurnReport::default(), "{visitor}");
        }
        assert_eq!(world.stored(visitor).await, None);
    }
    let mut tx = world.store.read().await.expect("read");
    let keys = ["nobody".to_owned(), "other-ana".to_owned()];
    assert_eq!(tx.messages().find_by_channel_ids(&keys).await.expect("find"), []);
}

async fn the_contact_of_a_webchat_is_the_gateways_business(store: SqlStore) {
    let world = World::new(store).await;
    assert_eq!(world.handle(world.text("dora", "m1", "oi")).await, TurnReport::default());
    world.add_visitor("dora").await;
    assert_eq!(world.say("dora", "m2", "oi").await, ["Hello "]);
}

async fn a_router_without_a_flow_only_stores(store: SqlStore) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    world.add_visitor("other-ana").await;
    for expected in [false, true] {
        let report = world.handle(world.text("other-ana", "m1", "oi")).await;
        assert_eq!((report.stored.len(), report.stored[0].duplicate), (1, expected));
        assert_eq!(bodies(&report), if expected { vec![] } else { vec![UNANSWERED] });
    }
    assert_eq!(world.stored("other-ana").await, None);
    let report = world.handle(world.text("other-ana", "m2", "oi?")).await;
    assert!(!report.stored[0].duplicate);
    // Its flow begins with the next message after it was given one.
    let end = serde_json::json!({ "end": true });
    world.publish("router2", "late", flow_of(&[block("b", "At last", &end)])).await;
    world.start_with("router2", "late").await;
    assert_eq!(world.say("other-ana", "m3", "oi!").await, ["At last"]);
}

async fn a_token_starts_the_flow_it_names_within_its_router(store: SqlStore) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    let end = serde_json::json!({ "end": true });
    world.publish("router2", "theirs", flow_of(&[block("b", "Theirs", &end)])).await;
    world.publish("router1", "ours", flow_of(&[block("b", "Ours", &end)])).await;
    for (n, (flow, expected)) in
        [("ours", "Ours"), ("theirs", "Hello "), ("none", "Hello ")].into_iter().enumerate()
    {
        let visitor = ["ana", "bia", "caio"][n];
        let mut event = world.event(visitor, vec![IncomingMessage::text(visitor, "oi")]);
        event.flow_id = Some(flow.parse().expect("an id"));
        assert_eq!(bodies(&world.handle(ConversationEvent::Incoming(event)).await), [expected], "{flow}");
    }
}

async fn a_hundred_sessions_begin_in_one_commit(store: SqlStore) {
    let world = World::new(store).await;
    let visitors: Vec<String> = (0..100).map(|n| format!("visitor{n}")).collect();
    for visitor in &visitors {
        world.add_visitor(visitor).await;
    }
    for (round, expected) in ["Hello ", "You said 1"].into_iter().enumerate() {
        let events: Vec<_> =
            visitors.iter().map(|v| world.text(v, &format!("{v}-{round}"), &round.to_string())).collect();
        let reports = world.try_handle(&events).await.expect("handled");
        assert_eq!(reports.len(), 100);
        for (visitor, report) in visitors.iter().zip(reports) {
            assert_eq!(bodies(&report), [expected]);
            assert_eq!(report.outgoing[0].session_id, session(visitor));
        }
    }
    assert_eq!(world.transcript_of("visitor42").await, ["> 0", "< Hello ", "> 1", "< You said 1"]);
    // A second session of a visitor, with another context, shares contact and chat.
    let hash = "0123456789abcdef";
    let id = SessionId::parse(format!("wc-c1-visitor42-ctx{hash}")).expect("a session id");
    let events =
        [world.text("visitor42", "v-2", "name"), world.text(&format!("visitor42-ctx{hash}"), "v-3", "oi")];
    let reports = world.try_handle(&events).await.expect("handled");
    assert_eq!(
        (bodies(&reports[0]), bodies(&reports[1])),
        (vec!["Noted, Ana".into()], vec!["Hello ".into()])
    );
    assert_eq!(reports[1].outgoing[0].session_id, id);
    // Both change the contact in one commit: the changes of both stay.
    let events =
        [world.text("visitor42", "v-4", "name"), world.text(&format!("visitor42-ctx{hash}"), "v-5", "mail")];
    world.try_handle(&events).await.expect("handled");
    let contact = world.contact("visitor42").await;
    assert_eq!((contact.name.as_str(), contact.variables.len()), ("Ana", 2));
}

async fn the_order_within_a_chat_is_the_order_of_the_conversation(store: SqlStore) {
    let world = World::new(store).await;
    let mut expected = Vec::new();
    for n in 0..12 {
        let text = n.to_string();
        let answers = world.say("ana", &format!("m{n}"), &text).await;
        expected.push(format!("> {text}"));
        expected.extend(answers.into_iter().map(|answer| format!("< {answer}")));
        // Other conversations go on, and a clock may step back.
        world.say("bia", &format!("b{n}"), &text).await;
        if n % 3 == 0 {
            world.clock.set(world.cx.now() - std::time::Duration::from_millis(40));
        }
    }
    assert_eq!(world.transcript_of("ana").await, expected);
}

async fn messages_of_one_event_are_answered_one_by_one(store: SqlStore) {
    let world = World::new(store).await;
    let messages = ["oi", "1", "bye", "de novo", "2"];
    let messages = messages.iter().enumerate().map(|(n, text)| IncomingMessage::text(format!("m{n}"), *text));
    let event = ConversationEvent::Incoming(world.event("ana", messages.collect()));
    for first in [true, false] {
        let report = world.handle(event.clone()).await;
        assert!(report.stored.iter().all(|stored| stored.duplicate != first));
        let expected: &[&str] =
            if first { &["Hello ", "You said 1", "Bye", "Hello ", "You said 2"] } else { &[] };
        assert_eq!(bodies(&report), expected);
    }
}

/// The initial flow is at hand already, but not what it leads to.
async fn a_tokens_flow_leads_through_the_initial_one(store: SqlStore) {
    let world = World::new(store).await;
    for (id, text, target) in [
        ("third", "Third", json!({ "end": true })),
        ("second", "Second", json!({ "flowId": "third" })),
        ("first", "First", json!({ "flowId": "second" })),
    ] {
        world.publish("router1", id, flow_of(&[block("only", text, &target)])).await;
    }
    world.start_with("router1", "second").await;
    let mut event = world.event("ana", vec![IncomingMessage::text("m1", "oi")]);
    event.flow_id = Some("first".parse().expect("an id"));
    let report = world.handle(ConversationEvent::Incoming(event)).await;
    assert_eq!(
        (bodies(&report), report.frozen),
        (["First", "Second", "Third"].map(str::to_owned).to_vec(), false)
    );
}
