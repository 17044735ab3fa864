//! Messages out: replay, several sockets, delivery statuses (rulings S8, C4).

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::client::{Manner, id, text};
use crate::harness::setup::Identity;
use crate::harness::{Client, Server, Setup, eventually, everywhere};
use crate::messages::history;

everywhere!(replay, a_long_replay, replay_while_it_goes_on, statuses, sockets_of_one_visitor);

fn texts(messages: &[Value]) -> Vec<String> {
    messages.iter().map(text).collect()
}

fn echoes(numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
    numbers.map(|n| format!("eco {n}")).collect()
}

/// What was missed comes in order and before anything new; nothing leaks.
async fn replay(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let mut asked = Vec::new();
    for n in 1..=6 {
        asked.push(client.say(&format!("{n}")).await);
    }
    let messages = client.next_messages(6).await;
    assert_eq!(texts(&messages), echoes(1..=6));
    let (mut bob, _) = setup.visit(&server).await;
    bob.say("segredo").await;
    let foreign = id(&bob.next_messages(1).await[0]);
    drop(client);

    for (since, first) in [
        (id(&messages[5]), 7),
        (id(&messages[2]), 4),
        // One of their own messages: its answer and all that follows.
        (asked[3].clone(), 4),
        // Ids that are nobody's, or somebody else's, say nothing: everything of their own comes.
        ("cnosuchmessage00000000000".to_owned(), 1),
        (foreign, 1),
    ] {
        let (mut client, _) = Client::enter(server.addr, ana.since(&since)).await;
        let missed = echoes(first..=6);
        assert_eq!(client.texts(missed.len()).await, missed, "since {since}");
        // A mark that is no number keeps the numbers of the others.
        drop(client);
    }
    for since in [json!(7), json!("no id at all!\u{0}"), json!("")] {
        let mut auth = ana.auth();
        auth["since"] = since.clone();
        let client = Client::open_as(server.addr, auth, Manner::default()).await;
        let (name, _) = client.answer().await;
        assert!(name.starts_with("auth_"), "{since}");
    }
    // Without `since` nothing is replayed.
    let (mut client, _) = Client::enter(server.addr, ana.auth()).await;
    client.nothing_else().await;
}

/// More than the socket's buffer holds at once.
async fn a_long_replay(setup: Setup) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "0");
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let mut answers = Vec::new();
    for n in 1..=190 {
        client.say(&format!("{n}")).await;
        if n % 38 == 0 {
            // A client that falls behind by more than its buffer is sent away, to come back as it does below.
            answers.extend(client.next_messages(38).await);
        }
    }
    let first = id(&answers[0]);
    drop(client);
    let (mut client, _) = Client::enter(server.addr, ana.since(&first)).await;
    assert_eq!(client.texts(189).await, echoes(2..=190));
    client.nothing_else().await;
}

/// Answers that come while a socket is being given what it missed are neither lost nor doubled.
async fn replay_while_it_goes_on(setup: Setup) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "0").with("WEBCHAT_SOCKETS_PER_VISITOR", "0");
    let server = setup.start().await;
    let (mut talking, ana) = setup.visit(&server).await;
    talking.say("1").await;
    let first = id(&talking.next_messages(1).await[0]);
    let mut sockets = Vec::new();
    for n in 2..=40 {
        let waiting = talking.emit_later("message", &json!({ "text": format!("{n}") }));
        let (client, _) = Client::enter(server.addr, ana.since(&first)).await;
        sockets.push(client);
        assert_eq!(talking.try_ack(waiting).await.unwrap()["ok"], true);
    }
    assert_eq!(talking.texts(39).await, echoes(2..=40));
    for mut client in sockets {
        assert_eq!(client.texts(39).await, echoes(2..=40));
    }
}

async fn status_of(server: &Server, ana: &Identity, message: &str) -> String {
    let items = history(server, ana).await;
    let found = items.iter().find(|item| item["id"] == message);
    found.expect("the message")["status"].as_str().unwrap().to_owned()
}

async fn becomes(server: &Server, ana: &Identity, message: &str, status: &str) {
    eventually(status, || async { (status_of(server, ana, message).await == status).then_some(()) }).await;
}

async fn statuses(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    client.say("com ack").await;
    let acked = id(&client.next_messages(1).await[0]);
    becomes(&server, &ana, &acked, "delivered").await;
    client.send("read", &json!({ "messageId": acked }));
    becomes(&server, &ana, &acked, "read").await;

    // Another visitor cannot say that it was read, nor does a later status take it back.
    client.say("alheio").await;
    let other = id(&client.next_messages(1).await[0]);
    becomes(&server, &ana, &other, "delivered").await;
    let (mut bob, bobs) = setup.visit(&server).await;
    bob.send("read", &json!({ "messageId": other }));
    bob.say("oi").await;
    let mine = id(&bob.next_messages(1).await[0]);
    bob.send("read", &json!({ "messageId": mine }));
    // Statuses of one socket are handled in order: when this one is there, the first has had its time.
    becomes(&server, &bobs, &mine, "read").await;
    assert_eq!(status_of(&server, &ana, &other).await, "delivered");
    assert_eq!(status_of(&server, &ana, &acked).await, "read");

    // A client that never acknowledges: delivered after five seconds.
    drop(client);
    let manner = Manner { silent: true, ..Manner::default() };
    let (mut silent, _) = Client::enter_as(server.addr, ana.auth(), manner).await;
    let begin = std::time::Instant::now();
    silent.say("sem ack").await;
    silent.say("sem ack também").await;
    let waiting: Vec<String> = silent.next_messages(2).await.iter().map(id).collect();
    for message in &waiting {
        becomes(&server, &ana, message, "sent").await;
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    for message in &waiting {
        becomes(&server, &ana, message, "delivered").await;
    }
    assert!(begin.elapsed() >= Duration::from_secs(5), "{:?}", begin.elapsed());

    // Gone within the five seconds: it stays `sent`.
    silent.say("tchau").await;
    drop(silent);
    let unread = eventually("the answer is stored", || async {
        let items = history(&server, &ana).await;
        let found = items.iter().find(|item| item["text"]["body"] == "eco tchau");
        found.map(id)
    })
    .await;
    becomes(&server, &ana, &unread, "sent").await;
    let manner = Manner { silent: true, ..Manner::default() };
    let (mut silent, _) = Client::enter_as(server.addr, ana.auth(), manner).await;
    silent.say("fico").await;
    let later = id(&silent.next_messages(1).await[0]);
    becomes(&server, &ana, &later, "delivered").await;
    assert_eq!(status_of(&server, &ana, &unread).await, "sent");
}

async fn sockets_of_one_visitor(setup: Setup) {
    let server = setup.start().await;
    let (mut first, ana) = setup.visit(&server).await;
    let (mut second, _) = Client::enter(server.addr, ana.auth()).await;
    let manner = Manner { silent: true, ..Manner::default() };
    let (mut third, _) = Client::enter_as(server.addr, ana.auth(), manner).await;
    for n in 1..=10 {
        let speaker = if n % 2 == 0 { &first } else { &second };
        speaker.say(&format!("{n}")).await;
    }
    for client in [&mut first, &mut second, &mut third] {
        let mut seen = client.texts(10).await;
        // Two sockets at once have no order between them; what each has seen is complete.
        seen.sort_by_key(|text| text.len());
        let mut all = echoes(1..=10);
        all.sort_by_key(|text| text.len());
        seen.sort();
        all.sort();
        assert_eq!(seen, all);
    }
    drop(third);
    first.nothing_else().await;
}
