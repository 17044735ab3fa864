//! Order, bounds and hostile input of the socket layer, over real connections.

use std::{sync::atomic::Ordering, time::Duration};

use crate::support::{Client, Server, deep, http, wait_until};
use flowsdk_server::socket::{OrderedConfig, Pending};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_1000_events_keeps_its_order() {
    let server = Server::start(OrderedConfig { capacity: 1000, ..OrderedConfig::default() }).await;
    let mut client = Client::connect(server.addr).await;
    for n in 0..1000 {
        // Named and unknown events share the queue; every 50th handler is slow.
        let name = if n % 3 == 0 { "slow" } else { "note" };
        client.feed(&format!("42{}", json!([name, { "n": n, "ms": if n % 50 == 0 { 2 } else { 0 } }]))).await;
    }
    client.flush().await;
    wait_until("all events are handled", || server.seen().len() == 1000).await;
    assert_eq!(server.seen(), (0..1000).collect::<Vec<u64>>());
    client.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_answers_rate_limited_at_once() {
    let server = Server::start(OrderedConfig { capacity: 10, ..OrderedConfig::default() }).await;
    let mut client = Client::connect(server.addr).await;
    client.send(r#"42["gate",{"n":0}]"#).await;
    wait_until("the gate holds the queue", || server.state.started.load(Ordering::SeqCst) == 1).await;
    for n in 1..=15 {
        client.feed(&format!("42{n}{}", json!(["note", { "n": n }]))).await;
    }
    client.flush().await;
    for n in 11..=15 {
        let ack = client.packet().await;
        assert!(ack.starts_with(&format!("43{n}[")), "{ack}");
        assert!(ack.contains(r#""code":"rate_limited""#) && ack.contains(r#""ok":false"#), "{ack}");
    }
    server.state.gate.notify_one();
    for n in 1..=10 {
        assert_eq!(client.packet().await, format!(r#"43{n}[{{"ok":true}}]"#));
    }
    assert_eq!(server.seen(), (0..=10).collect::<Vec<u64>>());
    client.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_bound_the_queue_too() {
    let server = Server::start(OrderedConfig { max_queued_bytes: 100_000, ..OrderedConfig::default() }).await;
    let mut client = Client::connect(server.addr).await;
    client.send(r#"42["gate",{"n":0}]"#).await;
    wait_until("the gate holds the queue", || server.state.started.load(Ordering::SeqCst) == 1).await;
    let big = "x".repeat(60_000);
    client.send(&format!("421{}", json!(["note", { "n": 1, "text": big }]))).await;
    client.send(&format!("422{}", json!(["note", { "n": 2, "text": big }]))).await;
    let refused = client.packet().await;
    assert!(refused.starts_with("432[") && refused.contains(r#""code":"rate_limited""#), "{refused}");
    server.state.gate.notify_one();
    assert_eq!(client.packet().await, r#"431[{"ok":true}]"#);
    client.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disconnect_within_a_burst_leaks_no_task() {
    for pending in [Pending::Discard, Pending::Drain] {
        let server =
            Server::start(OrderedConfig { capacity: 1000, pending, ..OrderedConfig::default() }).await;
        for before in 0..20 {
            let mut client = Client::connect(server.addr).await;
            // One that left before it was served would have neither handler called.
            wait_until("the socket is served", || server.state.joined.load(Ordering::SeqCst) > before).await;
            for n in 0..200 {
                client.feed(&format!("42{}", json!(["slow", { "n": n, "ms": 1 }]))).await;
            }
            client.flush().await;
            match pending {
                Pending::Discard => drop(client), // no close frame, no packet: the connection is just gone
                Pending::Drain => client.close().await,
            }
        }
        // Only the accept loop is left on the tracker: no connection, no consumer.
        wait_until("the tasks are gone", || server.tracker.len() == 1).await;
        wait_until("the sockets are gone", || server.io.sockets().is_empty()).await;
        wait_until("the tasks are gone", || server.tracker.len() == 1).await;
        let (joined, left) = (&server.state.joined, &server.state.left);
        assert_eq!(
            joined.load(Ordering::SeqCst),
            left.load(Ordering::SeqCst),
            "connects and disconnects pair"
        );
        if pending == Pending::Drain {
            assert_eq!(left.load(Ordering::SeqCst), 20);
            assert_eq!(server.seen().len(), 20 * 200);
        } else {
            assert!(server.seen().len() < 20 * 200);
        }
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_while_they_are_let_in_is_waited_for_no_more() {
    let server = Server::start(OrderedConfig::default()).await;
    let mut client = Client::open(server.addr).await;
    client.send(r#"40{"waits":true}"#).await;
    wait_until("it is being let in", || server.state.started.load(Ordering::SeqCst) == 1).await;
    drop(client);
    // Nobody opens the gate, so what was under way for it was dropped, and with it the hash it would have waited for.
    wait_until("it has left", || server.state.left.load(Ordering::SeqCst) == 1).await;
    assert_eq!(server.state.given_up.load(Ordering::SeqCst), 1);
    assert_eq!(server.state.joined.load(Ordering::SeqCst), 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_right_behind_the_connect_is_not_lost() {
    let server = Server::start(OrderedConfig::default()).await;
    for _ in 0..200 {
        let mut client = Client::connect(server.addr).await;
        client.send(r#"427["note",{"n":1}]"#).await;
        assert_eq!(client.packet().await, r#"437[{"ok":true}]"#);
        client.close().await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panicking_handler_is_answered_and_the_socket_goes_on() {
    let server = Server::start(OrderedConfig::default()).await;
    let mut client = Client::connect(server.addr).await;
    client.send(r#"421["panic",{"n":0}]"#).await;
    assert!(client.packet().await.contains("internal_error"));
    client.send(r#"422["note",{"n":1}]"#).await;
    assert_eq!(client.packet().await, r#"432[{"ok":true}]"#);
    client.close().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_json_is_refused_and_the_socket_goes_on() {
    let server = Server::start(OrderedConfig::default()).await;
    for nested in [deep("[", "]"), deep(r#"{"a":"#, "}")] {
        let mut client = Client::connect(server.addr).await;
        client.send(&format!(r#"421["note",{nested}]"#)).await;
        assert!(client.packet().await.contains("invalid_payload"));
        client.send(&format!(r#"42["note",{nested}]"#)).await; // no ack: dropped and counted
        client.send(&format!("439[{nested}]")).await; // an ack nobody waits for
        client.send(r#"422["note",{"n":1}]"#).await;
        assert_eq!(client.packet().await, r#"432[{"ok":true}]"#);
        client.close().await;

        let mut client = Client::open(server.addr).await;
        client.send(&format!("40{nested}")).await;
        assert_eq!(client.packet().await, r#"44{"message":"invalid auth payload"}"#);
        client.close().await;

        let session = http::open(server.addr).await;
        assert_eq!(session.post("40").await, (200, "ok".to_owned()));
        session.poll_for("40{").await;
        assert_eq!(session.post(&format!(r#"423["note",{nested}]"#)).await, (200, "ok".to_owned()));
        assert!(session.poll_for("433").await.contains("invalid_payload"));
        assert_eq!(session.post(r#"424["note",{"n":1}]"#).await, (200, "ok".to_owned()));
        assert!(session.poll_for("434").await.contains(r#"{"ok":true}"#));
        session.post("1").await;
    }
    // An unclosed one never becomes an event: the connection ends.
    let mut client = Client::connect(server.addr).await;
    client.send(&format!(r#"42["note",{}"#, "[".repeat(10_000))).await;
    assert!(client.ended().await);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_packets_end_at_most_their_own_connection() {
    let server = Server::start(OrderedConfig::default()).await;
    // (packet, does the connection end)
    let cases: &[(&str, bool)] = &[
        (r#"42["#, true),                               // broken JSON
        (r#"42{"a":1}"#, true),                         // not an array
        (r#"42[]"#, true),                              // no name
        (r#"42[1,2]"#, true),                           // name is a number
        (r#"42["\u006eote",{}]"#, true), // the library borrows the name: escapes in it are refused
        (r#"4299999999999999999999["note",1]"#, false), // ack id beyond i64: taken for an event without ack
        (r#"42/nowhere,["note",1]"#, false), // unknown namespace: ignored
        ("4", true),
        ("49", true),
        ("44{}", true),              // CONNECT_ERROR from a client
        ("459999-[\"note\"]", true), // more attachments than allowed
        ("431[]", false),            // ack nobody waits for
        ("40", false),               // a second CONNECT is ignored
    ];
    for (packet, ends) in cases {
        let mut client = Client::connect(server.addr).await;
        client.send(packet).await;
        if *ends {
            assert!(client.ended().await, "{packet}");
        } else {
            client.send(r#"422["note",{"n":1}]"#).await;
            assert_eq!(client.packet().await, r#"432[{"ok":true}]"#, "{packet}");
            client.close().await;
        }
    }
    // An event before the CONNECT.
    let mut client = Client::open(server.addr).await;
    client.send(r#"42["note",{"n":1}]"#).await;
    assert!(client.ended().await);
    // Binary: placeholder in the payload, bytes beside it.
    let mut client = Client::connect(server.addr).await;
    client.send(r#"451-5["bytes",{"_placeholder":true,"num":0}]"#).await;
    client.send_binary(vec![1, 2, 3]).await;
    assert_eq!(client.packet().await, r#"435[{"lengths":[3]}]"#);
    client.send_binary(vec![1]).await; // bytes nobody announced
    assert!(client.ended().await);
    // Larger than the limit: websocket and polling alike.
    let big = "x".repeat(100_001);
    let mut client = Client::connect(server.addr).await;
    client.send(&format!(r#"42["note","{big}"]"#)).await;
    assert!(client.ended().await);
    let session = http::open(server.addr).await;
    assert_eq!(session.post(&format!(r#"42["note","{big}"]"#)).await.0, 413);
    let gone = async {
        while session.post("3").await.0 != 400 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("the session is gone");
    server.stop().await;
}
