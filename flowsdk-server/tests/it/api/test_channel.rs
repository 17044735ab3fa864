//! `POST /webchat/test/messages`: the test channel over HTTP.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::building::{FAILED, act, id, says, shop};
use crate::harness::http::{self, Answer};
use crate::harness::setup::Identity;
use crate::harness::{Api, Client, Server, Setup, eventually, everywhere};

everywhere!(answers_in_one_call, turns_that_wait, turns_that_freeze);
everywhere!(in process: who_is_refused, a_repetition, at_once, a_flow_of_ones_choice);

const PATH: &str = "/webchat/test/messages";

/// The test channel of a new router whose flow is this one.
async fn test_channel(setup: &Setup, server: &Server, definition: &Value) -> String {
    let admin = Api::admin(setup, server).await;
    let (router, _, _) = shop(&admin, "Loja", definition).await;
    id(&admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200))
}

async fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    Api::anonymous(server).json("POST", path, headers, body).await
}

/// A new visitor, from the answer to their first message.
fn visitor(setup: &Setup, channel: &str, turn: &Value) -> Identity {
    let text = |name: &str| turn[name].as_str().unwrap().to_owned();
    let visitor = Identity { channel: channel.to_owned(), user: text("userId"), key: text("sessionKey") };
    setup.plant(&visitor.key);
    visitor
}

fn texts(turn: &Value) -> Vec<&str> {
    let messages = turn["messages"].as_array().unwrap_or_else(|| panic!("no messages: {turn}"));
    messages.iter().map(|message| message["text"]["body"].as_str().unwrap()).collect()
}

async fn history(server: &Server, visitor: &Identity) -> Vec<Value> {
    let page = http::get(server.addr, "/webchat/history?limit=200", &visitor.headers()).await.ok(200);
    page["items"].as_array().unwrap().iter().rev().cloned().collect()
}

async fn answers_in_one_call(setup: Setup) {
    let server = setup.start().await;
    let channel = test_channel(&setup, &server, &says("eco {{input}}")).await;
    let first = post(&server, PATH, &[("x-channel-id", &channel)], &json!({ "text": "oi" })).await;
    assert_eq!(
        (&*first.headers["cache-control"], &*first.headers["content-type"]),
        ("no-store", "application/json")
    );
    let first = first.ok(200);
    assert_eq!((texts(&first), &first["repeated"]), (vec!["eco oi"], &json!(false)));
    assert_eq!(first["frozen"], json!(false));
    let ana = visitor(&setup, &channel, &first);
    assert_eq!(first["sessionId"], format!("wc-{channel}-{}", ana.user));

    // Exactly what a socket of the same visitor is given.
    let (mut socket, ok) = Client::enter(server.addr, ana.auth()).await;
    assert_eq!(ok["isTestChannel"], true, "its page offers to start over");
    let api = format!("/api{PATH}");
    let tap = json!({ "type": "button_reply", "id": "b1", "title": "Sim" });
    for (path, body) in [(PATH, json!({ "text": "de novo" })), (api.as_str(), tap)] {
        let turn = post(&server, path, &ana.headers(), &body).await.ok(200);
        let mut given = socket.next_messages(1).await;
        if given[0]["id"] == first["messages"][0]["id"] {
            // With streams it may still have been on its way when the socket came.
            given = socket.next_messages(1).await;
        }
        assert_eq!(turn["messages"], json!(given), "{body}");
        assert_eq!((&turn["userId"], &turn["sessionKey"]), (&json!(ana.user), &json!(ana.key)));
        assert_eq!(turn["sessionId"], first["sessionId"]);
    }
    let said = history(&server, &ana).await;
    let directions: Vec<_> = said.iter().map(|item| item["direction"].as_str().unwrap()).collect();
    assert_eq!(directions, ["in", "out", "in", "out", "in", "out"]);
    assert_eq!((&said[0]["id"], &said[1]["id"]), (&first["messageId"], &first["messages"][0]["id"]));
    // What is said on the socket is no answer of a later call.
    assert_eq!(super::building::answer(&mut socket, "no soquete").await, "eco no soquete");
    let turn = post(&server, PATH, &ana.headers(), &json!({ "text": "fim" })).await.ok(200);
    assert_eq!(texts(&turn), ["eco fim"]);
}

async fn a_flow_of_ones_choice(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let (router, _, _) = shop(&admin, "Loja", &says("canal {{input}}")).await;
    let channel = id(&admin.get(&format!("/routers/{router}/webchat/test")).await.ok(200));
    let flow =
        |name: &str, definition: Value| json!({ "routerId": router, "name": name, "definition": definition });
    let mut traced = says("outro {{input}}");
    traced["settings"] = json!({ "trace": true });
    let other = id(&admin.post("/flows", &flow("Outro", traced)).await.ok(201));
    let said = |flow: &str| json!({ "text": "oi", "flowId": flow });
    let new = [("x-channel-id", &*channel)];
    // A draft does not run.
    let draft = post(&server, PATH, &new, &said(&other)).await;
    draft.refused(
        422,
        "flow_unknown",
        "Flow não pertence ao roteador, ou não tem versão publicada ou de teste",
    );
    for (way, version) in [("publish", "version 1"), ("publish-test", "test version")] {
        act(&admin, &format!("/flows/{other}/{way}")).await.ok(200);
        let turn = post(&server, PATH, &new, &said(&other)).await.ok(200);
        assert_eq!(texts(&turn), ["outro oi"], "{way}");
        let session = turn["sessionId"].as_str().unwrap();
        let trace = admin.get(&format!("/sessions/{session}/trace?format=text")).await.body;
        assert!(trace.contains(&format!("  in flow `Outro`, {version}\n")), "{trace}");
        let ana = visitor(&setup, &channel, &turn);
        let of_channel = admin.get(&format!("/webchat/channels/{channel}")).await.ok(200);
        assert_eq!(of_channel["initialFlowId"] == json!(other), way == "publish-test");
        // A session that has begun stays in its flow.
        let turn = post(&server, PATH, &ana.headers(), &json!({ "text": "mais" })).await.ok(200);
        assert_eq!(texts(&turn), ["outro mais"]);
    }
    let (elsewhere, _, _) = shop(&admin, "Outra", &says("x")).await;
    let foreign = json!({ "routerId": elsewhere, "name": "Alheio", "definition": says("x") });
    let foreign = id(&admin.post("/flows", &foreign).await.ok(201));
    for unknown in [&*foreign, "cunknown"] {
        let refused = post(&server, PATH, &new, &said(unknown)).await;
        assert_eq!(
            (refused.status, refused.json()["code"].as_str()),
            (422, Some("flow_unknown")),
            "{unknown}"
        );
    }
}

async fn who_is_refused(setup: Setup) {
    let server = setup.start().await;
    let channel = test_channel(&setup, &server, &says("eco {{input}}")).await;
    let oi = json!({ "text": "oi" });
    let ana =
        visitor(&setup, &channel, &post(&server, PATH, &[("x-channel-id", &channel)], &oi).await.ok(200));
    let ids = |items: Vec<Value>| items.into_iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
    let before = ids(history(&server, &ana).await);
    let (open, closed) = (&*setup.seeded.open, &*setup.seeded.closed);
    for (headers, status, code) in [
        (
            vec![("x-channel-id", &*channel), ("x-user-id", &*ana.user), ("x-session-key", "wrong")],
            401,
            "identity_invalid",
        ),
        (vec![("x-channel-id", &*channel), ("x-user-id", &*ana.user)], 401, "identity_invalid"),
        (
            vec![("x-channel-id", &*channel), ("x-user-id", "nobody"), ("x-session-key", &*ana.key)],
            401,
            "identity_invalid",
        ),
        // These are no test channels, whoever asks.
        (vec![("x-channel-id", open)], 404, "channel_unknown"),
        (vec![("x-channel-id", closed)], 404, "channel_unknown"),
        (vec![("x-channel-id", "cunknown")], 404, "channel_unknown"),
        (vec![], 404, "channel_unknown"),
    ] {
        let answer = post(&server, PATH, &headers, &oi).await;
        answer.assert_error(status);
        assert_eq!(answer.json()["code"], code, "{headers:?}");
    }
    for (body, fields) in [
        (json!({}), vec!["text"]),
        (json!({ "text": " " }), vec!["text"]),
        (json!({ "text": "a".repeat(4097) }), vec!["text"]),
        (json!({ "text": 7 }), vec!["text"]),
        (json!({ "text": "a", "clientMessageId": "a b" }), vec!["clientMessageId"]),
        (json!({ "text": "a", "other": 1 }), vec!["other"]),
        (json!({ "type": "button_reply", "id": "b" }), vec!["title"]),
        (json!({ "type": "button_reply", "id": "b", "title": "B", "text": "a" }), vec!["text"]),
        (json!({ "text": "a", "id": "b", "title": "B" }), vec!["id", "title"]),
        (json!({ "type": "reply", "id": "b", "title": "B" }), vec!["type"]),
        (json!(["oi"]), vec![""]),
    ] {
        let answer = post(&server, PATH, &ana.headers(), &body).await;
        answer.assert_error(400);
        let details = answer.json()["details"].as_array().cloned().unwrap_or_default();
        let named: Vec<_> = details.iter().map(|detail| detail["field"].as_str().unwrap()).collect();
        assert!(named == fields || fields == [""], "{body}: {answer:?}");
    }
    for query in ["wait=31", "wait=-1", "wait=a", "wait="] {
        let answer = post(&server, &format!("{PATH}?{query}"), &ana.headers(), &oi).await;
        assert_eq!(answer.invalid_fields(), ["wait"], "{query}");
    }
    post(&server, PATH, &ana.headers(), &json!({ "text": "a".repeat(70_000) })).await.assert_error(413);
    let api = Api::anonymous(&server);
    api.send("POST", PATH, &ana.headers(), Some(b"oi")).await.assert_error(415);
    api.send("GET", PATH, &ana.headers(), None).await.assert_error(405);
    assert_eq!(ids(history(&server, &ana).await), before, "nothing of that was stored");
    // As many as over a socket, and no more.
    let headers = ana.headers();
    let many = join_all((0..80).map(|_| post(&server, PATH, &headers, &oi))).await;
    let refused: Vec<_> = many.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty() && many.iter().any(|answer| answer.status == 200));
    assert!(refused.iter().all(|answer| answer.json()["code"] == "rate_limited"));
}

async fn turns_that_freeze(setup: Setup) {
    let server = setup.start().await;
    let lost = json!({ "schemaVersion": 1, "startBlockId": "only", "blocks": [
        { "id": "only", "type": "content", "defaultOutput": { "flowId": "nowhere" } }] });
    let channel = test_channel(&setup, &server, &lost).await;
    let first = post(&server, PATH, &[("x-channel-id", &channel)], &json!({ "text": "oi" })).await.ok(200);
    let ana = visitor(&setup, &channel, &first);
    let kept = post(&server, PATH, &ana.headers(), &json!({ "text": "oi?" })).await.ok(200);
    for (turn, told) in [(first, vec![FAILED]), (kept, vec![])] {
        assert_eq!((&turn["frozen"], texts(&turn)), (&json!(true), told), "{turn}");
    }
}

async fn a_repetition(setup: Setup) {
    let server = setup.start().await;
    let channel = test_channel(&setup, &server, &says("eco {{input}}")).await;
    let body = json!({ "text": "oi", "clientMessageId": "ci-1" });
    let first = post(&server, PATH, &[("x-channel-id", &channel)], &body).await.ok(200);
    let ana = visitor(&setup, &channel, &first);
    let headers = ana.headers();
    for again in join_all((0..4).map(|_| post(&server, PATH, &headers, &body))).await {
        let again = again.ok(200);
        assert_eq!((&again["repeated"], &again["messages"]), (&json!(true), &json!([])));
        assert_eq!(again["messageId"], first["messageId"]);
    }
    assert_eq!(history(&server, &ana).await.len(), 2);
    // Of several at once, one is the first.
    let body = json!({ "text": "oi", "clientMessageId": "ci-2" });
    let turns = join_all((0..4).map(|_| post(&server, PATH, &headers, &body))).await;
    let answered: Vec<_> = turns.iter().map(|turn| texts(&turn.ok(200)).len()).collect();
    assert_eq!(answered.iter().sum::<usize>(), 1, "{answered:?}");
    assert_eq!(history(&server, &ana).await.len(), 4);
}

async fn at_once(setup: Setup) {
    let server = setup.start().await;
    let channel = test_channel(&setup, &server, &says("eco {{input}}")).await;
    let first = post(&server, PATH, &[("x-channel-id", &channel)], &json!({ "text": "oi" })).await.ok(200);
    let ana = visitor(&setup, &channel, &first);
    let headers = ana.headers();
    let say = async |n: usize| {
        let turn = post(&server, PATH, &headers, &json!({ "text": format!("{n}") })).await.ok(200);
        assert_eq!(texts(&turn), [format!("eco {n}")]);
    };
    join_all((0..20).map(say)).await;
    // Each answer stands behind its message, whatever the order in which they came.
    let said = history(&server, &ana).await;
    assert_eq!(said.len(), 42);
    for pair in said.chunks(2) {
        let [question, answer] = [0, 1].map(|n| pair[n]["text"]["body"].as_str().unwrap());
        assert_eq!(answer, format!("eco {question}"));
    }
}

async fn turns_that_wait(setup: Setup) {
    let server = setup.start().await;
    let mut flow = says("n={{n}}");
    let script = |script: &str| json!([{ "type": "executeScript", "script": script, "variable": "n" }]);
    flow["blocks"][0]["onLeave"] = script("variables.said.length * 2");
    let channel = test_channel(&setup, &server, &flow).await;
    let first = post(&server, PATH, &[("x-channel-id", &channel)], &json!({ "text": "oi" })).await.ok(200);
    assert_eq!(texts(&first), ["n="]);
    let ana = visitor(&setup, &channel, &first);
    for text in ["a", "ab", "abc"] {
        let turn = post(&server, PATH, &ana.headers(), &json!({ "text": text })).await.ok(200);
        assert_eq!(texts(&turn), [format!("n={}", 2 * text.len())]);
    }
    // Who does not wait is told so, unless the script was quick, and finds the rest in the history.
    flow["blocks"][0]["onLeave"] = script("let n = 0; for (let i = 0; i < 100000; i++) n += i; 7");
    let channel = test_channel(&setup, &server, &flow).await;
    let first = post(&server, PATH, &[("x-channel-id", &channel)], &json!({ "text": "oi" })).await.ok(200);
    let bob = visitor(&setup, &channel, &first);
    let path = format!("{PATH}?wait=0");
    let answer = post(&server, &path, &bob.headers(), &json!({ "text": "devagar" })).await;
    let turn = answer.json();
    match answer.status {
        202 => assert_eq!(turn["messages"], json!([])),
        _ => assert_eq!((answer.status, texts(&turn)), (200, vec!["n=7"])),
    }
    let said = eventually("the answer is in the history", || async {
        let said = history(&server, &bob).await;
        (said.len() == 4).then_some(said)
    })
    .await;
    assert_eq!((&said[2]["id"], &said[3]["text"]["body"]), (&turn["messageId"], &json!("n=7")));
}
