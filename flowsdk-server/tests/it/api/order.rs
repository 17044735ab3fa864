//! The order of redirects and messages (rulings S21): a redirect that was answered is before every message that is sent
//! after the answer, whatever ways the two take.

use serde_json::{Value, json};

use super::building::{id, shop};
use crate::harness::http;
use crate::harness::setup::Identity;
use crate::harness::{Api, Client, Server, Setup, everywhere};

everywhere!(on_the_socket, over_http, a_caller_may_wait);

/// How often a redirect and a message race.
const ROUNDS: usize = 40;

/// Two blocks that say where the visitor is, and wait there.
fn two_rooms() -> Value {
    let room = |name: &str| {
        json!({ "id": name, "type": "content",
            "contents": [{ "type": "text", "text": { "body": format!("{name} {{{{input}}}}") } }],
            "input": { "variable": "said" }, "defaultOutput": { "blockId": name } })
    };
    json!({ "schemaVersion": 1, "startBlockId": "a", "blocks": [room("a"), room("b")] })
}

struct Rooms {
    server: Server,
    admin: Api,
    flow: String,
    channel: String,
    router: String,
}

impl Rooms {
    async fn new(setup: &Setup) -> Self {
        let server = setup.start().await;
        let admin = Api::admin(setup, &server).await;
        let (router, flow, channel) = shop(&admin, "Loja", &two_rooms()).await;
        Self { server, admin, flow, channel, router }
    }

    /// Lets a visitor in, who is in room `a` after a first message. Returns the socket and the id of the session.
    async fn enter(&self, setup: &Setup) -> (Client, String) {
        let (mut client, ok) = Client::enter(self.server.addr, json!({ "channelId": self.channel })).await;
        setup.plant(ok["sessionKey"].as_str().unwrap());
        client.say("oi").await;
        assert_eq!(client.texts(1).await, ["a oi"]);
        (client, format!("wc-{}-{}", self.channel, ok["userId"].as_str().unwrap()))
    }

    /// Leads a session to the other room; returns its name.
    async fn lead(&self, session: &str, round: usize, speaks: bool, rest: &str) -> (&'static str, Value) {
        let room = if round.is_multiple_of(2) { "b" } else { "a" };
        let to = json!({ "flowId": self.flow, "blockId": room, "executeOnEntry": speaks });
        (room, self.admin.post(&format!("/sessions/{session}/redirect{rest}"), &to).await.ok(200))
    }
}

async fn on_the_socket(setup: Setup) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "0").with("API_REQUESTS_PER_SECOND", "0");
    let rooms = Rooms::new(&setup).await;
    let (mut client, session) = rooms.enter(&setup).await;
    for speaks in [false, true] {
        for round in 0..ROUNDS {
            let (room, _) = rooms.lead(&session, round, speaks, "").await;
            let text = format!("{speaks} {round}");
            client.say(&text).await;
            let answer = format!("{room} {text}");
            let expected = if speaks { vec![format!("{room} "), answer] } else { vec![answer] };
            assert_eq!(client.texts(expected.len()).await, expected);
        }
    }
}

async fn over_http(setup: Setup) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "0").with("API_REQUESTS_PER_SECOND", "0");
    let rooms = Rooms::new(&setup).await;
    let channel = id(&rooms.admin.get(&format!("/routers/{}/webchat/test", rooms.router)).await.ok(200));
    let path = "/webchat/test/messages";
    let anonymous = Api::anonymous(&rooms.server);
    let first = [("x-channel-id", channel.as_str())];
    let first = anonymous.json("POST", path, &first, &json!({ "text": "oi" })).await.ok(200);
    let text = |name: &str| first[name].as_str().unwrap().to_owned();
    let ana = Identity { channel, user: text("userId"), key: text("sessionKey") };
    setup.plant(&ana.key);
    let mut expected = vec!["oi".to_owned(), "a oi".to_owned()];
    for speaks in [false, true] {
        for round in 0..ROUNDS {
            let (room, _) = rooms.lead(&text("sessionId"), round, speaks, "").await;
            let said = format!("{speaks} {round}");
            let turn = anonymous.json("POST", path, &ana.headers(), &json!({ "text": said })).await.ok(200);
            let answer = format!("{room} {said}");
            let messages = turn["messages"].as_array().unwrap();
            assert_eq!(messages.last().unwrap()["text"]["body"], answer, "{turn}");
            expected.extend(speaks.then(|| format!("{room} ")));
            expected.extend([said, answer]);
        }
    }
    let page = http::get(rooms.server.addr, "/webchat/history?limit=200", &ana.headers()).await.ok(200);
    let mut said: Vec<_> =
        page["items"].as_array().unwrap().iter().map(|item| item["text"]["body"].clone()).collect();
    said.reverse();
    // The newest page of it.
    assert_eq!(said, expected[expected.len() - said.len()..]);
}

/// With `wait` the answer says what came of it.
async fn a_caller_may_wait(setup: Setup) {
    let setup = setup.with("WEBCHAT_MESSAGES_PER_SECOND", "0").with("API_REQUESTS_PER_SECOND", "0");
    let rooms = Rooms::new(&setup).await;
    let (client, session) = rooms.enter(&setup).await;
    for round in 0..4 {
        let (room, answer) = rooms.lead(&session, round, round > 1, "?wait=10").await;
        let there = json!({ "result": "done", "mode": "flow", "flowId": rooms.flow, "blockId": room });
        assert_eq!(answer["outcome"], there, "{answer}");
        let state = rooms.admin.get(&format!("/sessions/{session}")).await.ok(200);
        assert_eq!(state["currentBlockId"], room);
    }
    let (_, answer) = rooms.lead(&session, 0, false, "?wait=0").await;
    assert!(answer.get("outcome").is_none(), "{answer}");
    for wait in ["11", "-1", "x", ""] {
        let path = format!("/sessions/{session}/redirect?wait={wait}");
        let to = json!({ "flowId": rooms.flow, "blockId": "a" });
        assert_eq!(rooms.admin.post(&path, &to).await.invalid_fields(), ["wait"]);
    }
    if !setup.is_distributed() {
        return;
    }
    // Where no engine runs nothing comes of it in time.
    drop(client);
    rooms.server.stop().await;
    let setup = setup.with("ROLES", "api");
    let server = Server::spawn(setup.command(), setup.dir.path(), "api").await;
    let to = json!({ "flowId": rooms.flow, "blockId": "b", "executeOnEntry": false });
    let path = format!("/sessions/{session}/redirect?wait=1");
    let pending = rooms.admin.at(&server).post(&path, &to).await.ok(202);
    assert_eq!(pending["outcome"]["result"], "pending", "{pending}");
    server.stop().await;
}
