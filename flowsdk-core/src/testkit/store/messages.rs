//! Messages and the history of a chat.

use std::sync::Arc;
use std::time::Duration;

use Direction::{In, Out};
use serde_json::json;

use super::StoreUnderTest;
use super::world::{SIZES, World, later, row, session_id};
use crate::fault::StorageError;
use crate::message::{Direction, HistoryQuery, Message, MessageStatus, NewMessage, Sender, SenderKind};
use crate::prelude::*;
use crate::store::Store;
use crate::testkit::store::StoreTx;

fn with_key(message: NewMessage, key: impl Into<String>) -> NewMessage {
    Message { channel_message_id: Some(key.into()), ..message }
}

/// The rows of the messages of a new chat.
fn numbered(messages: &[NewMessage]) -> Vec<Message> {
    (1..).zip(messages).map(|(seq, message)| row(message, seq)).collect()
}

/// Everything of a message comes back, in both directions and of every sender.
pub async fn messages_are_read_back<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut messages = vec![with_key(world.message(In, 1, "Olá"), "wc-1-a")];
    for (kind, name) in
        [(SenderKind::Flow, None), (SenderKind::Ai, Some("Bia 👋")), (SenderKind::Human, Some(""))]
    {
        let sender = Some(Sender { kind, name: name.map(str::to_owned) });
        messages.push(Message { sender, ..world.message(Out, 1, "é") });
    }
    let content = json!({ "type": "order", "order": { "n": 1.5, "list": [null, true] } });
    messages.push(Message { kind: "order".to_owned(), content, ..world.message(In, 2, "") });
    messages[2].status = Some(MessageStatus::Failed);
    messages[2].status_updated_at = world.cx.now() + Duration::from_millis(7);
    world.insert(&[]).await;
    world.insert(&messages).await;
    assert_eq!(world.messages().await, numbered(&messages));
}

/// Texts of any length and alphabet come back. A NUL, which some databases cannot store, may come back as
/// U+FFFD; it is never a reason to refuse the message.
pub async fn any_content_survives<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let bodies = [
        "x".repeat(65_536),
        "👩🏽‍🚀é\u{301}\u{feff}\u{202e}".repeat(4_000),
        "'; DROP TABLE message; -- \\u0041 \\\\u0000 \\\" $1 ? :a".to_owned(),
        "\r\n\t\u{1}\u{7f}\u{85}\u{2028}\u{10ffff}".to_owned(),
        "\\\0\\\\\0".to_owned(),
    ];
    let messages: Vec<_> = bodies.iter().map(|body| world.message(In, 1, body)).collect();
    world.insert(&messages).await;
    for (message, body) in world.messages().await.into_iter().zip(&bodies) {
        let stored = message.content["text"]["body"].as_str().expect("a text").replace('\0', "\u{fffd}");
        assert!(stored == body.replace('\0', "\u{fffd}"), "{stored:?}");
    }
}

/// Batches of every size are stored, in order.
pub async fn messages_in_batches_of_any_size<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut all = Vec::new();
    for size in SIZES {
        let batch: Vec<_> =
            (0..size).map(|n| with_key(world.message(In, n, "é"), format!("wc-{size}-{n}"))).collect();
        world.insert(&batch).await;
        all.extend(batch);
    }
    assert_eq!(world.messages().await, numbered(&all));
}

/// A channel message id is stored once, wherever in a batch it comes again; nothing of that batch stays.
pub async fn a_channel_message_id_is_stored_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    world.insert(&[with_key(world.message(In, 1, "first"), "wc-1-a")]).await;
    for at in [0, 130, 299] {
        let mut batch: Vec<_> =
            (0..300).map(|n| with_key(world.message(In, 1, "again"), format!("wc-2-{n}"))).collect();
        batch[at].channel_message_id = Some("wc-1-a".to_owned());
        let mut tx = world.store.begin().await.expect("begin");
        let refused = tx.messages().insert_many(&batch).await;
        assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
        drop(tx);
    }
    let twice = [with_key(world.message(In, 1, ""), "wc-3"), with_key(world.message(In, 2, ""), "wc-3")];
    let mut tx = world.store.begin().await.expect("begin");
    let refused = tx.messages().insert_many(&twice).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
    drop(tx);
    // An id is stored once too; messages without a key do not meet each other.
    let message = world.message(Out, 1, "");
    world.insert(&[message.clone(), world.message(Out, 1, "")]).await;
    let mut tx = world.store.begin().await.expect("begin");
    let refused = tx.messages().insert_many(&[message]).await;
    assert!(matches!(refused, Err(StorageError::Unique { .. })), "{refused:?}");
    drop(tx);
    assert_eq!(world.messages().await.len(), 3);
}

/// Keys that are stored are found, with the ids of their rows.
pub async fn stored_keys_are_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let odd = "wc-c1-visitor0001/'\"é,[]{}";
    let messages: Vec<_> = (0..299)
        .map(|n| with_key(world.message(In, 1, ""), format!("wc-{n:03}")))
        .chain([with_key(world.message(In, 1, ""), odd)])
        .collect();
    world.insert(&messages).await;
    let mut keys: Vec<_> = messages.iter().filter_map(|message| message.channel_message_id.clone()).collect();
    keys.extend(["wc-300".to_owned(), String::new(), "wc-001".to_owned()]);
    let mut tx = world.store.read().await.expect("read");
    let mut found = tx.messages().find_by_channel_ids(&keys).await.expect("find");
    found.sort_unstable();
    let mut expected: Vec<_> = messages
        .into_iter()
        .map(|message| (message.channel_message_id.expect("a key"), message.id))
        .collect();
    expected.sort_unstable();
    assert!(found == expected, "{} were found", found.len());
    assert_eq!(tx.messages().find_by_channel_ids(&[]).await.expect("find"), []);
}

/// The pages of a history are the whole history, newest first, each message once, although messages of
/// one millisecond lie across the ends of pages and new ones come meanwhile.
pub async fn pages_are_stable_under_inserts<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let step = |n: usize| Duration::from_millis(n as u64 / 10);
    let messages: Vec<_> = (0..47)
        .map(|n| Message { created_at: world.cx.now() + step(n), ..world.message(In, 1, &n.to_string()) })
        .collect();
    world.insert(&messages).await;
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let query = HistoryQuery { chat_id: &world.chat, before, limit: 7 };
        let page = {
            let mut tx = world.store.read().await.expect("read");
            tx.messages().history(&query).await.expect("history")
        };
        assert!((1..=7).contains(&page.items.len()));
        seen.extend(page.items);
        let Some(next) = page.next else { break };
        before = Some(next);
        let newer = Message { created_at: world.cx.now() + step(46), ..world.message(Out, 1, "newer") };
        world.insert(&[newer]).await;
    }
    seen.reverse();
    assert_eq!(seen, numbered(&messages));
    // A page that ends with the history says so.
    let query = HistoryQuery { chat_id: &world.chat, before: None, limit: 53 };
    let mut tx = world.store.read().await.expect("read");
    let page = tx.messages().history(&query).await.expect("history");
    assert_eq!((page.items.len(), page.next), (53, None));
    let nowhere = "nowhere".parse().expect("an id");
    let query = HistoryQuery { chat_id: &nowhere, before: None, limit: 5 };
    assert_eq!(tx.messages().history(&query).await.expect("history").items, []);
}

/// The messages that a visitor has not seen yet: the outgoing ones of their session after the last one they have.
pub async fn outgoing_messages_since_one_are_found<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut messages: Vec<_> =
        (0..12).map(|n| world.message(if n % 3 == 0 { In } else { Out }, 1, &n.to_string())).collect();
    messages[5].session_id = session_id(2);
    world.insert(&messages).await;
    let ids = |numbers: &[usize]| numbers.iter().map(|&n| messages[n].id.clone()).collect::<Vec<_>>();
    let unknown = "unknown".parse().expect("an id");
    for (after, limit, expected) in [
        (None, 100, ids(&[1, 2, 4, 7, 8, 10, 11])),
        (None, 3, ids(&[8, 10, 11])),
        (Some(&messages[4].id), 100, ids(&[7, 8, 10, 11])),
        (Some(&messages[0].id), 100, ids(&[1, 2, 4, 7, 8, 10, 11])),
        (Some(&messages[11].id), 100, ids(&[])),
        (Some(&unknown), 2, ids(&[10, 11])),
        // Of another session: unknown in this one.
        (Some(&messages[5].id), 100, ids(&[1, 2, 4, 7, 8, 10, 11])),
    ] {
        let mut tx = world.store.read().await.expect("read");
        let found =
            tx.messages().outgoing_since(&session_id(1), &world.chat, after, limit).await.expect("find");
        assert_eq!(found.into_iter().map(|m| m.id).collect::<Vec<_>>(), expected, "{after:?} {limit}");
    }
    // And the messages that they have, newest first.
    for (last, limit, expected) in [
        (&messages[7].id, 100, ids(&[7, 4, 2, 1])),
        (&messages[6].id, 2, ids(&[4, 2])),
        (&messages[0].id, 100, ids(&[])),
        (&unknown, 100, ids(&[])),
        (&messages[5].id, 100, ids(&[])),
    ] {
        let mut tx = world.store.read().await.expect("read");
        let found =
            tx.messages().outgoing_until(&session_id(1), &world.chat, last, limit).await.expect("find");
        assert_eq!(found, expected, "{last:?} {limit}");
    }
    // And the answers to one message: everything sent since it was stored.
    let timed: Vec<_> = (0..6)
        .map(|n| {
            let direction = if n % 3 == 0 { In } else { Out };
            Message { created_at: later(n), ..world.message(direction, 3, &n.to_string()) }
        })
        .collect();
    world.insert(&timed).await;
    let ids = |numbers: &[usize]| numbers.iter().map(|&n| timed[n].id.clone()).collect::<Vec<_>>();
    for (session, message, limit, expected) in [
        (3, &timed[3].id, 100, Some(ids(&[4, 5]))),
        (3, &timed[0].id, 3, Some(ids(&[2, 4, 5]))),
        (3, &unknown, 100, None),
        (1, &timed[0].id, 100, None),
    ] {
        let mut tx = world.store.read().await.expect("read");
        let found = tx.messages().answers_to(&session_id(session), message, limit).await;
        let found = found.expect("find").map(|found| found.into_iter().map(|m| m.id).collect::<Vec<_>>());
        assert_eq!(found, expected, "{session} {message:?} {limit}");
    }
}

/// Each chat counts its own messages, in the order of the commits and within a batch in the order given. Clocks of
/// writers that differ, or go back, change nothing: neither for the history nor for a visitor who comes back.
pub async fn a_chat_numbers_its_messages_whatever_clocks_say<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let other = world.another_chat().await;
    // The gateway's clock is four seconds ahead of the owner's; a new owner's is eight behind the old one's.
    let offsets = [4_000, 0, 4_000, 8_000, 4_000, 0, 4_001, 8];
    let mut messages = Vec::new();
    for (n, offset) in offsets.into_iter().enumerate() {
        let direction = if n % 2 == 0 { In } else { Out };
        messages.push(Message { created_at: later(offset), ..world.message(direction, 1, &n.to_string()) });
    }
    let elsewhere = |n: u64| Message {
        chat_id: other.clone(),
        created_at: later(n),
        ..world.message(Out, 2, "elsewhere")
    };
    let mut numbers = Vec::new();
    for (n, pair) in messages.chunks(2).enumerate() {
        // Two chats of one batch, between each other.
        let batch = [pair[0].clone(), elsewhere(9 - n as u64), pair[1].clone()];
        let mut tx = world.store.begin().await.expect("begin");
        numbers.extend(tx.messages().insert_many(&batch).await.expect("messages"));
        tx.commit().await.expect("commit");
    }
    assert_eq!(numbers, [1, 1, 2, 3, 2, 4, 5, 3, 6, 7, 4, 8]);
    assert_eq!(world.messages().await, numbered(&messages));
    let ids = |range: std::ops::Range<usize>| -> Vec<_> {
        messages[range].iter().filter(|message| message.direction == Out).map(|m| m.id.clone()).collect()
    };
    let session = session_id(1);
    let mut tx = world.store.read().await.expect("read");
    for (last, message) in messages.iter().enumerate() {
        let since = tx.messages().outgoing_since(&session, &world.chat, Some(&message.id), 100).await;
        let since: Vec<_> = since.expect("find").into_iter().map(|message| message.id).collect();
        assert_eq!(since, ids(last + 1..messages.len()), "since {last}");
        let mut had =
            tx.messages().outgoing_until(&session, &world.chat, &message.id, 100).await.expect("find");
        had.reverse();
        assert_eq!(had, ids(0..last + 1), "until {last}");
        let answers = tx.messages().answers_to(&session, &message.id, 100).await.expect("find");
        let answers: Vec<_> = answers.expect("stored").into_iter().map(|message| message.id).collect();
        assert_eq!(answers, ids(last + 1..messages.len()), "answers to {last}");
        let heard = tx.messages().is_heard_after(&world.chat, &message.id).await.expect("find");
        let is_heard = messages[last + 1..].iter().any(|later| later.direction == In);
        assert_eq!(heard, Some(is_heard), "after {last}");
    }
    // A message of another chat is no place in this one.
    let found = tx.messages().outgoing_since(&session_id(2), &other, Some(&messages[7].id), 100).await;
    assert_eq!(found.expect("find").len(), 4);
    assert_eq!(tx.messages().is_heard_after(&other, &messages[0].id).await.expect("find"), None);
}

/// A long chat is read from any place, to any length, and goes with its contact, whatever other chats stand between its
/// messages.
pub async fn a_long_chat_is_read_from_any_place<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    const MESSAGES: usize = 150;
    let world = World::new(&subject).await;
    let other = world.another_chat().await;
    let messages: Vec<_> = (0..MESSAGES)
        .map(|n| Message {
            created_at: later(n as u64),
            ..world.message(if n % 5 == 0 { In } else { Out }, n % 2, &n.to_string())
        })
        .collect();
    let elsewhere: Vec<_> = messages
        .iter()
        .map(|one| Message { chat_id: other.clone(), ..world.message(In, 7, &one.id.to_string()) })
        .collect();
    for (batch, between) in messages.chunks(4).zip(elsewhere.chunks(4)) {
        let mixed: Vec<_> = batch.iter().zip(between).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        world.insert(&mixed).await;
    }
    let all = numbered(&messages);
    let mut tx = world.store.read().await.expect("read");
    for before in 1..=MESSAGES + 2 {
        let read = &all[..MESSAGES.min(before - 1)];
        for limit in [1, 7, 40, MESSAGES] {
            let query =
                HistoryQuery { chat_id: &world.chat, before: Some(before as i64), limit: limit as u32 };
            let page = tx.messages().history(&query).await.expect("history");
            let expected: Vec<_> = read.iter().rev().take(limit).cloned().collect();
            assert_eq!(
                page.next,
                expected.last().filter(|_| read.len() > limit).map(|last| last.seq),
                "{query:?}"
            );
            assert!(page.items == expected, "{query:?}");
        }
    }
    let of_session = |range: &[Message]| -> Vec<_> {
        range
            .iter()
            .filter(|one| one.direction == Out && one.session_id == session_id(1))
            .map(|one| one.id.clone())
            .collect()
    };
    for at in (1..MESSAGES).step_by(2) {
        let since =
            tx.messages().outgoing_since(&session_id(1), &world.chat, Some(&messages[at].id), 200).await;
        let since: Vec<_> = since.expect("find").into_iter().map(|one| one.id).collect();
        assert_eq!(since, of_session(&all[at + 1..]), "since {at}");
        let until = tx.messages().outgoing_until(&session_id(1), &world.chat, &messages[at].id, 9).await;
        let mut expected = of_session(&all[..=at]);
        expected.reverse();
        expected.truncate(9);
        assert_eq!(until.expect("find"), expected, "until {at}");
    }
    let insights = tx.contact_insights().insights(&world.contact, None, later(10)).await.expect("insights");
    let count = |direction| all[10..].iter().filter(|one| one.direction == direction).count() as i64;
    let day = insights.messages_by_day.first().expect("a day");
    assert_eq!((day.incoming, day.outgoing, insights.messages_by_day.len()), (count(In), count(Out), 1));
    assert_eq!(insights.last_seen_at, Some(later(145)));
    drop(tx);

    let mut tx = world.store.begin().await.expect("begin");
    tx.contact_catalog().delete(&world.contact).await.expect("delete");
    for message in &messages {
        assert_eq!(tx.chat_catalog().find_message(&message.id).await.expect("find"), None);
    }
    let query = HistoryQuery { chat_id: &other, before: None, limit: 200 };
    assert_eq!(tx.messages().history(&query).await.expect("history").items.len(), MESSAGES);
    // A message for a chat that is gone is refused.
    let refused = tx.messages().insert_many(&messages[..1]).await;
    assert!(matches!(refused, Err(StorageError::Orphan { .. })), "{refused:?}");
}

/// Of writers at the same time each takes numbers of its own. One that loses the race is told so and loses nothing
/// when it tries again.
pub async fn concurrent_writers_of_a_chat_take_each_number_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    const WRITERS: usize = 6;
    const BATCHES: usize = 8;
    let world = Arc::new(World::new(&subject).await);
    let write = async |writer: usize| {
        let mut taken = Vec::new();
        for n in 0..BATCHES {
            let batch: Vec<_> =
                (0..3).map(|part| world.message(Out, writer, &format!("{writer} {n} {part}"))).collect();
            let seqs = loop {
                let mut tx = world.store.begin().await.expect("begin");
                let written = match tx.messages().insert_many(&batch).await {
                    Ok(seqs) => tx.commit().await.map(|()| seqs),
                    Err(error) => Err(error),
                };
                match written {
                    Ok(seqs) => break seqs,
                    Err(error) => assert!(error.is_transient(), "{error:?}"),
                }
            };
            taken.extend(batch.iter().map(|message| message.id.clone()).zip(seqs));
        }
        taken
    };
    let writers = (0..WRITERS).map(write);
    let mut taken: Vec<_> = futures_util::future::join_all(writers).await.into_iter().flatten().collect();
    taken.sort_unstable_by_key(|(_, seq)| *seq);
    let stored: Vec<_> =
        world.messages().await.into_iter().map(|message| (message.id, message.seq)).collect();
    assert_eq!(stored, taken);
    let numbers: Vec<_> = stored.into_iter().map(|(_, seq)| seq).collect();
    assert_eq!(numbers, (1..=(WRITERS * BATCHES * 3) as i64).collect::<Vec<_>>());
}
