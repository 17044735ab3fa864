//! The desk in the terminal, on the demonstration.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{command, run};
use crate::harness::{Api, Client, Server, Terminal};

/// A demonstration in English, and its folder.
struct Demo {
    dir: TempDir,
    server: Server,
    facts: Value,
}

impl Demo {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(settings: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = serve(dir.path(), "127.0.0.1:0", settings).await;
        let facts = serde_json::from_str(server.output().lines().next().unwrap()).unwrap();
        Self { dir, server, facts }
    }

    /// Kills the server and starts it again at the same address.
    async fn restart(self) -> Self {
        let address = self.server.addr.to_string();
        self.server.kill();
        Self { server: serve(self.dir.path(), &address, &[]).await, ..self }
    }

    fn desk(&self, name: &str, arguments: &[&str]) -> Terminal {
        let mut command = desk_command(&data(self.dir.path()));
        command.args(arguments);
        Terminal::start(command, self.dir.path(), name)
    }

    /// The desk of Ana, once she is online.
    async fn ana(&self) -> Terminal {
        let mut ana = self.desk("ana", &[]);
        ana.event("desk:connected").await;
        assert_eq!(ana.ask("status online").await["status"], "online");
        ana
    }

    /// A visitor at the menu, and how they come back.
    async fn visitor(&self) -> (Client, Value) {
        let channel = &self.facts["channelId"];
        let (mut visitor, ok) = Client::enter(self.server.addr, json!({ "channelId": channel })).await;
        visitor.next_messages(1).await;
        visitor.say("Eva").await;
        visitor.next_messages(2).await;
        let auth = json!({ "channelId": channel, "userId": ok["userId"], "sessionKey": ok["sessionKey"] });
        (visitor, auth)
    }

    async fn admin(&self) -> Api {
        let login = json!({ "email": self.facts["adminEmail"], "password": self.facts["adminPassword"] });
        let anonymous = Api::anonymous(&self.server);
        let session = anonymous.post("/auth/login", &login).await.ok(200);
        anonymous.with(session["accessToken"].as_str().unwrap())
    }
}

fn data(dir: &Path) -> PathBuf {
    dir.join("data")
}

async fn serve(dir: &Path, listen: &str, settings: &[(&str, &str)]) -> Server {
    let mut demo = command();
    demo.arg("demo").arg("--data").arg(data(dir)).args(["--listen", listen, "--json", "--lang", "en"]);
    demo.envs(settings.iter().copied());
    Server::start(demo, dir, "demo").await
}

fn desk_command(data: &Path) -> Command {
    let mut desk = command();
    desk.args(["desk", "--json", "--data"]).arg(data);
    desk
}

/// The visitor asks for a person, and is told that one comes.
async fn ask_for_a_person(visitor: &mut Client) {
    visitor.say("Human").await;
    assert_eq!(visitor.texts(1).await, ["One moment, Eva: a person will answer you here."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_served_from_end_to_end() {
    let demo = Demo::start().await;
    let mut ana = demo.ana().await;
    let (mut visitor, _) = demo.visitor().await;
    ask_for_a_person(&mut visitor).await;
    let assigned = ana.event("ticket:assigned").await;
    assert_eq!((&assigned["number"], &assigned["seq"]), (&json!(1), &json!(1)), "{assigned}");
    let sent = ana.ask("reply 1 How can I help?").await;
    assert_eq!((&sent["ok"], &sent["number"]), (&json!(true), &json!(1)), "{sent}");
    assert_eq!(visitor.texts(1).await, ["How can I help?"]);
    visitor.say("my order").await;
    let wrote = ana.event("ticket:message").await;
    assert_eq!((&wrote["number"], &wrote["messages"][0]["text"]["body"]), (&json!(1), &json!("my order")));
    let read = ana.ask("read #1").await;
    let last = read["items"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"]["text"]["body"], "my order", "{read}");
    assert_eq!(ana.ask("list").await["items"][0]["id"], assigned["ticket"]["id"]);
    // What cannot be done is said, and the desk goes on.
    for (line, code) in [
        ("dance", "invalid_command"),
        ("reply 1", "invalid_command"),
        ("reply 7 hello", "ticket_unknown"),
        ("read cnothing", "not_found"),
        ("transfer 1 user cnobody", "agent_unknown"),
        ("pickup", "nothing_waiting"),
    ] {
        let answer = ana.ask(line).await;
        assert_eq!((&answer["ok"], &answer["code"]), (&json!(false), &json!(code)), "{line}: {answer}");
    }
    let closed = ana.ask(&format!("close {} solved", assigned["ticket"]["id"].as_str().unwrap())).await;
    assert_eq!(closed["ticket"]["closeReason"], "solved", "{closed}");
    assert_eq!(visitor.texts(1).await, ["Thank you, Eva! You are with the assistant again."]);
    let menu = visitor.next_messages(1).await.remove(0);
    assert_eq!(menu["interactive"]["body"]["text"], "What would you like to do?");
    ana.write("quit");
    assert!(ana.end().await.0.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_goes_from_hand_to_hand() {
    let demo = Demo::start().await;
    let (mut visitor, _) = demo.visitor().await;
    let mut bruno = demo.desk("bruno", &["--email", "bruno@flowsdk.local"]);
    bruno.event("desk:connected").await;
    // Away, so that the queue leaves the ticket to be picked up.
    bruno.ask("status away").await;
    ask_for_a_person(&mut visitor).await;
    while bruno.event("helpdesk:waiting").await["total"] != 1 {}
    let waiting = bruno.ask("waiting").await;
    assert_eq!(waiting["items"].as_array().unwrap().len(), 1, "{waiting}");
    let picked = bruno.ask("pickup").await;
    assert_eq!(picked["ticket"]["id"], waiting["items"][0]["id"], "{picked}");
    let number = &picked["number"];
    let targets = bruno.ask(&format!("targets {number}")).await;
    let presence = |name: &str| {
        let all = targets["agents"].as_array().unwrap();
        all.iter().find(|agent| agent["name"] == name).unwrap().clone()
    };
    assert_eq!([&presence("Bruno")["presence"], &presence("Ana")["presence"]], ["away", "offline"]);
    let ana = presence("Ana")["userId"].as_str().unwrap().to_owned();
    let moved = bruno.ask(&format!("transfer {number} user {ana}")).await;
    assert_eq!(moved["ok"], true, "{moved}");
    let gone = bruno.event("ticket:transferred").await;
    assert_eq!((&gone["number"], &gone["nextTicketId"]), (number, &moved["ticket"]["id"]));
    // Ana's desk begins with what she has.
    let mut ana = demo.desk("ana", &[]);
    let list = ana.answer("list").await;
    assert_eq!(list["items"][0]["id"], moved["ticket"]["id"], "{list}");
    let targets = ana.ask("targets 1").await;
    let queue = targets["queues"][0]["queueId"].as_str().unwrap().to_owned();
    ana.ask("status away").await;
    let waiting = ana.ask(&format!("transfer 1 queue {queue}")).await;
    assert_eq!(waiting["ticket"]["status"], "waiting");
    // Whoever leaves is offline.
    assert!(ana.end().await.0.success());
    let targets = bruno.ask(&format!("targets {}", waiting["ticket"]["id"].as_str().unwrap())).await;
    let ana = targets["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "Ana").unwrap();
    assert_eq!(ana["presence"], "offline");
    bruno.signal(Signal::TERM);
    assert!(bruno.end().await.0.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desk_shows_what_it_missed_while_the_server_was_away() {
    let demo = Demo::start().await;
    let mut ana = demo.ana().await;
    let (mut visitor, auth) = demo.visitor().await;
    ask_for_a_person(&mut visitor).await;
    ana.event("ticket:assigned").await;
    // It hears nothing until the contact has written everything.
    ana.signal(Signal::STOP);
    let demo = demo.restart().await;
    let (visitor, _) = Client::enter(demo.server.addr, auth).await;
    for word in ["one", "two", "three"] {
        visitor.say(word).await;
    }
    ana.signal(Signal::CONT);
    ana.event("desk:lost").await;
    ana.event("desk:connected").await;
    for (seq, word) in (2..).zip(["one", "two", "three"]) {
        let wrote = ana.event("ticket:message").await;
        assert_eq!((&wrote["seq"], &wrote["messages"][0]["text"]["body"]), (&json!(seq), &json!(word)));
    }
    visitor.say("four").await;
    assert_eq!(ana.event("ticket:message").await["seq"], 5);
    let news = ana
        .lines()
        .into_iter()
        .filter(|line| line["event"].as_str().is_some_and(|e| e.starts_with("ticket:")));
    assert_eq!(news.map(|line| line["seq"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    // A reply that finds no server waits for one, and is sent once.
    let address = demo.server.addr.to_string();
    demo.server.kill();
    ana.event("desk:lost").await;
    ana.write("reply 1 Still here");
    let server = serve(demo.dir.path(), &address, &[]).await;
    assert_eq!(ana.answer("reply").await["ok"], true);
    let read = ana.ask("read 1").await;
    let said = read["items"].as_array().unwrap().iter();
    assert_eq!(
        said.filter(|message| message["content"]["text"]["body"] == "Still here").count(),
        1,
        "{read}"
    );
    assert!(ana.end().await.0.success());
    assert!(server.stop().await.0.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_desk_outlives_its_token() {
    let demo = Demo::start_with(&[("JWT_ACCESS_EXPIRES_IN", "2s")]).await;
    let mut ana = demo.ana().await;
    // The server cuts desks off whose token has run out.
    ana.event("desk:lost").await;
    ana.event("desk:connected").await;
    let (mut visitor, _) = demo.visitor().await;
    ask_for_a_person(&mut visitor).await;
    ana.event("ticket:assigned").await;
    assert_eq!(ana.ask("list").await["items"].as_array().unwrap().len(), 1);
    assert!(ana.end().await.0.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_gets_no_desk() {
    let demo = Demo::start().await;
    let url = format!("http://{}", demo.server.addr);
    let admin = demo.admin().await;
    let group = json!({ "name": "Readers", "permissions": [{ "resource": "chats", "actions": ["read"] }] });
    let group = admin.post("/groups", &group).await.ok(201)["id"].clone();
    let reader = json!({ "name": "Eve", "email": "eve@example.com", "phone": "5511999990000",
        "password": "planted-password", "groupId": group });
    admin.post("/users", &reader).await.ok(201);
    let desk = |url: &str, email: &str| {
        let mut desk = command();
        desk.args(["desk", "--url", url, "--email", email]);
        desk
    };
    for (email, password, expected) in [
        ("ana@flowsdk.local", "planted-wrong", "Invalid credentials (invalid_credentials)"),
        ("eve@example.com", "planted-password", "no rights on the helpdesk"),
    ] {
        let mut desk = desk(&url, email);
        desk.env("FLOWSDK_PASSWORD", password);
        let (status, out, err) = run(desk).await;
        assert_eq!((status.code(), out.as_str()), (Some(1), ""), "{err}");
        assert!(err.contains(expected) && !err.contains("planted"), "{err}");
    }
    let (status, _, err) = run(desk(&url, "ana@flowsdk.local")).await;
    assert!(!status.success() && err.contains("set FLOWSDK_PASSWORD"), "{err}");
    let (status, _, err) = run(desk_command(&demo.dir.path().join("nowhere"))).await;
    assert!(!status.success() && err.contains("there are no agents in"), "{err}");
    assert!(demo.server.stop().await.0.success());
    let mut late = desk(&url, "ana@flowsdk.local");
    late.env("FLOWSDK_PASSWORD", "planted-password");
    let (status, _, err) = run(late).await;
    assert!(!status.success() && err.contains(&format!("{url} cannot be reached")), "{err}");
}

/// As in a restored one: copies have no passwords of agents.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_of_a_folder_without_their_login_get_another_password() {
    let Demo { dir, server, .. } = Demo::start().await;
    let file = data(dir.path()).join("desk.json");
    let login = || -> Value { serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap() };
    let first = login();
    assert!(server.stop().await.0.success());
    let server = serve(dir.path(), "127.0.0.1:0", &[]).await;
    assert_eq!(login()["password"], first["password"], "the same as long as it is there");
    assert!(server.stop().await.0.success());
    std::fs::remove_file(&file).unwrap();
    let _server = serve(dir.path(), "127.0.0.1:0", &[]).await;
    assert_ne!(login()["password"], first["password"]);
    let (status, out, err) = run(desk_command(&data(dir.path()))).await;
    assert!(status.success() && out.contains("desk:connected"), "{out}{err}");
}
