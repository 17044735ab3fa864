//! Messages in: acks, order, repetitions, what is refused (spec B 4.2, rulings S1, S2).

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message as Frame;

use crate::harness::client::{Manner, text};
use crate::harness::setup::Identity;
use crate::harness::{Client, Server, Setup, everywhere, http};

everywhere!(what_is_taken, what_is_refused, repetitions, a_flood, hostile_frames);

/// The whole history of a visitor, oldest first.
pub async fn history(server: &Server, identity: &Identity) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/webchat/history?limit=200{cursor}");
        let page = http::get(server.addr, &path, &identity.headers()).await.json();
        items.extend(page["items"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    items.reverse();
    items
}

/// The texts of one direction.
pub fn texts_of(items: &[Value], direction: &str) -> Vec<String> {
    let of_it = items.iter().filter(|item| item["direction"] == direction);
    of_it.map(text).collect()
}

async fn what_is_taken(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let mut ids = Vec::new();
    let said: Vec<String> = (0..20).map(|n| format!("mensagem {n}")).collect();
    for text in &said {
        ids.push(client.say(text).await);
    }
    let answers: Vec<String> = said.iter().map(|text| format!("eco {text}")).collect();
    assert_eq!(client.texts(20).await, answers, "answered in order");
    let items = history(&server, &ana).await;
    assert_eq!(texts_of(&items, "in"), said);
    assert_eq!(texts_of(&items, "out"), answers);
    let stored: Vec<&str> = items
        .iter()
        .filter(|item| item["direction"] == "in")
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(stored, ids, "the ack names the stored message");

    // As long as it may be, in characters, not bytes; with a NUL; a tapped button.
    let long = "é".repeat(4_096);
    client.say(&long).await;
    assert_eq!(client.texts(1).await, [format!("eco {long}")]);
    client.say("a\u{0}b").await;
    assert_eq!(client.texts(1).await, ["eco a\u{fffd}b"]);
    let tapped = json!({ "type": "button_reply", "id": "sim", "title": "Sim" });
    assert_eq!(client.emit("message_interactive", &tapped).await["ok"], true);
    client.next_messages(1).await;
    client.nothing_else().await;
}

async fn what_is_refused(setup: Setup) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "0");
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let tapped = |id: &str| json!({ "type": "button_reply", "id": id, "title": "Sim" });
    for (event, payload, code) in [
        ("message", json!({ "text": "" }), "text_empty"),
        ("message", json!({ "text": " \n\t " }), "text_empty"),
        ("message", json!({ "text": "x".repeat(4_097) }), "text_too_long"),
        ("message", json!({ "text": 7 }), "payload_invalid"),
        ("message", json!({ "text": null }), "payload_invalid"),
        ("message", json!({ "text": ["a"] }), "payload_invalid"),
        ("message", json!({}), "payload_invalid"),
        ("message", json!(null), "payload_invalid"),
        ("message", json!("text"), "payload_invalid"),
        ("message", json!([]), "payload_invalid"),
        ("message", json!(["a"]), "payload_invalid"),
        ("message_interactive", json!(["button_reply", "a", "A"]), "payload_invalid"),
        ("message", json!({ "text": "a", "clientMessageId": "" }), "client_message_id_invalid"),
        ("message", json!({ "text": "a", "clientMessageId": 7 }), "payload_invalid"),
        ("message", json!({ "text": "a", "clientMessageId": "x".repeat(65) }), "client_message_id_invalid"),
        ("message_interactive", tapped(""), "payload_invalid"),
        ("message_interactive", json!({ "type": "other", "id": "a", "title": "A" }), "payload_invalid"),
        ("message_interactive", tapped(&"x".repeat(300)), "payload_invalid"),
        ("no_such_event", json!({}), "event_unknown"),
        ("agent:reply", json!({ "text": "a" }), "event_unknown"),
    ] {
        let ack = client.emit(event, &payload).await;
        assert_eq!((&ack["ok"], &ack["code"]), (&json!(false), &json!(code)), "{event} {payload}");
        assert!(ack["message"].as_str().is_some_and(|text| !text.is_empty()), "{ack}");
    }
    // Without any payload, and ten thousand levels of one.
    let bare = client.emit_raw(r#"["message"]"#);
    assert_eq!(client.try_ack(bare).await.unwrap()["code"], "payload_invalid");
    let deep = format!(r#"["message",{}1{}]"#, r#"{"text":"#.repeat(10_000), "}".repeat(10_000));
    let deep = client.emit_raw(&deep);
    assert_eq!(client.try_ack(deep).await.unwrap()["code"], "invalid_payload");
    // An event with an attachment: its text is a placeholder.
    client.raw(Frame::text(r#"451-77["message",{"text":{"_placeholder":true,"num":0}}]"#));
    client.raw(Frame::binary(vec![1, 2, 3]));
    assert_eq!(client.try_ack(77).await.unwrap()["code"], "payload_invalid");
    // Events nobody answers.
    client.send("typing", &json!({}));
    client.send("read", &json!({ "messageId": "no such" }));
    client.send("read", &json!(7));

    client.nothing_else().await;
    assert_eq!(history(&server, &ana).await.len(), 2, "nothing of it was stored");
}

/// The same `clientMessageId` is stored and answered once.
async fn repetitions(setup: Setup) {
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    let payload = |id: &str| json!({ "text": format!("vez {id}"), "clientMessageId": id });
    let first = client.emit("message", &payload("a")).await;
    assert_eq!(client.emit("message", &payload("a")).await, first);
    assert_eq!(client.texts(1).await, ["eco vez a"]);

    let (mut again, _) = Client::enter(server.addr, ana.auth()).await;
    assert_eq!(again.emit("message", &payload("a")).await, first, "on another connection");

    // On both sockets at once, many times.
    for round in 0..20 {
        let id = format!("b{round}");
        let (one, two) =
            (client.emit_later("message", &payload(&id)), again.emit_later("message", &payload(&id)));
        let (one, two) = (client.try_ack(one).await.unwrap(), again.try_ack(two).await.unwrap());
        assert_eq!(one["ok"], true, "{one}");
        assert_eq!(one["messageId"], two["messageId"], "round {round}");
    }
    let answers: Vec<String> = (0..20).map(|round| format!("eco vez b{round}")).collect();
    assert_eq!(client.texts(20).await, answers);
    assert_eq!(again.texts(20).await, answers);
    // The id of another visitor's message is another id.
    let (mut stranger, _) = setup.visit(&server).await;
    assert_ne!(stranger.emit("message", &payload("a")).await["messageId"], first["messageId"]);
    assert_eq!(stranger.texts(1).await, ["eco vez a"]);
    client.nothing_else().await;
    let items = history(&server, &ana).await;
    assert_eq!((texts_of(&items, "in").len(), texts_of(&items, "out").len()), (22, 22));
}

/// A thousand messages at once: some are refused, and what was taken is there, once, in order. Answers may be
/// missing, because nobody keeps them for a client that does not read; what is missing may be there or not.
async fn a_flood(setup: Setup) {
    let server = setup.start().await;
    let (client, ana) = setup.visit(&server).await;
    let waiting: Vec<u64> = (0..1_000)
        .map(|n| {
            client
                .emit_later("message", &json!({ "text": format!("{n}"), "clientMessageId": format!("c{n}") }))
        })
        .collect();
    // Answers that are under way when the client leaves are lost.
    crate::harness::eventually("many are refused", || async {
        let refused = |id: &&u64| client.ack_now(**id).is_some_and(|ack| ack["ok"] != true);
        (waiting.iter().filter(refused).count() > 100).then_some(())
    })
    .await;
    client.raw(Frame::text("41"));
    // Coming back proves that the old socket is done with: its events are handled or discarded.
    let mut later = crate::harness::eventually("the visitor is heard again", || async {
        let (later, _) = Client::enter(server.addr, ana.auth()).await;
        let ack = later.emit("message", &json!({ "text": "fim", "clientMessageId": "fim" })).await;
        (ack["ok"] == true).then_some(later)
    })
    .await;
    let (mut taken, mut refused) = (Vec::new(), 0);
    for (n, id) in waiting.into_iter().enumerate() {
        match client.ack_now(id) {
            Some(ack) if ack["ok"] == true => taken.push(n.to_string()),
            Some(ack) => {
                assert_eq!(ack["code"], "rate_limited", "{ack}");
                refused += 1;
            }
            None => {}
        }
    }
    eprintln!("flood: {} taken, {refused} refused", taken.len());
    assert!(refused > 100, "{refused} refused");
    later.until("eco fim").await;
    let items = history(&server, &ana).await;
    let stored = texts_of(&items, "in");
    let numbers: Vec<u32> = stored.iter().filter_map(|text| text.parse().ok()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "once and in order: {numbers:?}");
    assert!(taken.iter().all(|text| stored.contains(text)), "{taken:?} {stored:?}");
    assert!(stored.len() < 200, "the limit holds: {}", stored.len());
    let expected: Vec<String> = stored.iter().map(|n| format!("eco {n}")).collect();
    assert_eq!(texts_of(&items, "out"), expected);
}

/// A client that breaks the protocol loses its connection and nothing else.
async fn hostile_frames(setup: Setup) {
    let server = setup.start().await;
    let (mut neighbour, _) = setup.visit(&server).await;
    for frame in [
        Frame::text(format!("42{}", json!(["message", { "text": "x".repeat(200_000) }]))),
        Frame::text("42not json"),
        Frame::text("42[7]"),
        Frame::text("9"),
        Frame::binary(vec![0; 10]),
        Frame::text("455-[\"message\",{}]"),
    ] {
        let (client, _) =
            Client::enter_as(server.addr, json!({ "channelId": setup.seeded.open }), Manner::default()).await;
        client.raw(frame);
        // Whether the server hangs up or ignores it, the connection can be ended.
        client.raw(Frame::Close(None));
        client.closed().await;
    }
    invalid_utf8(&server, &setup.seeded.open).await;
    neighbour.nothing_else().await;
}

/// A text frame that is no UTF-8, which no client library would send.
async fn invalid_utf8(server: &Server, channel: &str) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(server.addr).await.unwrap();
    let head = "GET /webchat/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\n\
                Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let connect = format!("40{}", json!({ "channelId": channel }));
    for payload in [connect.as_bytes(), &[b'4', b'2', 0xff, 0xfe]] {
        // Masked with zeros.
        let mut frame = vec![0x81, 0x80 | u8::try_from(payload.len()).unwrap(), 0, 0, 0, 0];
        frame.extend_from_slice(payload);
        stream.write_all(&frame).await.unwrap();
    }
    let mut rest = Vec::new();
    let read = tokio::time::timeout(crate::harness::PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(read.is_ok(), "the server hangs up");
}
