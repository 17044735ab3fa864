//! The AI agents of the demonstration, over the socket of its chat.

use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::command;
use crate::harness::{Api, Client, Server, eventually};

struct Demo {
    dir: TempDir,
    server: Server,
    facts: Value,
}

impl Demo {
    async fn start(lang: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::start(demo_command(&dir, lang), dir.path(), "demo").await;
        let facts = serde_json::from_str(server.output().lines().next().unwrap()).unwrap();
        Self { dir, server, facts }
    }

    async fn admin(&self) -> Api {
        let login = json!({ "email": self.facts["adminEmail"], "password": self.facts["adminPassword"] });
        let anonymous = Api::anonymous(&self.server);
        let session = anonymous.post("/auth/login", &login).await.ok(200);
        anonymous.with(session["accessToken"].as_str().unwrap())
    }

    /// A visitor at the menu, when the assistant has read its documents.
    async fn visitor(&self, admin: &Api) -> Client {
        eventually("documents", || async {
            let found = admin.get("/knowledge-documents?status=ready").await.ok(200);
            (found["items"].as_array().unwrap().len() == 3).then_some(())
        })
        .await;
        let channel = &self.facts["channelId"];
        let (mut visitor, _) = Client::enter(self.server.addr, json!({ "channelId": channel })).await;
        visitor.next_messages(1).await;
        visitor.say("Eva").await;
        visitor.next_messages(2).await;
        visitor
    }
}

fn demo_command(dir: &TempDir, lang: &str) -> Command {
    let mut demo = command();
    demo.arg("demo").arg("--data").arg(dir.path().join("data"));
    demo.args(["--listen", "127.0.0.1:0", "--json", "--lang", lang]).env("AGENT_QUIET", "50ms");
    demo
}

/// What the assistant answers to a text: the body of its one message.
async fn answer(visitor: &mut Client, text: &str) -> String {
    visitor.say(text).await;
    let message = visitor.next_messages(1).await.remove(0);
    let body = message["text"]["body"].as_str().or_else(|| message["interactive"]["body"]["text"].as_str());
    body.unwrap_or_else(|| panic!("{message}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_assistant_answers_hands_over_and_ends() {
    let demo = Demo::start("en").await;
    let admin = demo.admin().await;
    let mut visitor = demo.visitor(&admin).await;
    visitor.say("assistant").await;
    let hello = visitor.next_messages(1).await.remove(0);
    assert_eq!(hello["sender"], json!({ "kind": "ai", "name": "Aurora" }), "{hello}");
    let buttons = hello["interactive"]["action"]["buttons"].as_array().unwrap();
    assert_eq!(buttons[0]["reply"]["title"], "Opening hours");
    // It quotes what its documents say.
    for (asked, said) in [
        ("Opening hours", "Monday to Saturday"),
        ("How much is delivery?", "costs € 3.00"),
        ("What are the prices of your coffees?", "Noon, round and nutty"),
    ] {
        let answer = answer(&mut visitor, asked).await;
        assert!(answer.contains(said), "{asked}: {answer}");
    }
    // To the specialist, and back.
    let asked = answer(&mut visitor, "How to brew").await;
    assert!(asked.starts_with("The barista here"), "{asked}");
    visitor.say("Filter").await;
    let told = visitor.next_messages(2).await;
    assert_eq!(told[0]["sender"]["name"], "Barista");
    assert!(told[0]["text"]["body"].as_str().unwrap().starts_with("For Filter: 18 g"), "{}", told[0]);
    assert_eq!(told[1]["text"]["body"], "Aurora again. Is there anything else?");
    let router = demo.facts["routerId"].as_str().unwrap();
    let sessions = admin.get(&format!("/sessions?routerId={router}")).await.ok(200);
    let session =
        admin.get(&format!("/sessions/{}", sessions["items"][0]["sessionId"].as_str().unwrap())).await;
    assert_eq!(session.ok(200)["variables"]["brewMethod"], "Filter");
    visitor.say("bye").await;
    assert_eq!(
        visitor.texts(2).await,
        ["See you, and enjoy your coffee!", "You are back at the menu, Eva."],
        "the flow goes on"
    );
    assert_eq!(
        visitor.next_messages(1).await[0]["interactive"]["body"]["text"],
        "What would you like to do?"
    );
    assert!(demo.server.stop().await.0.success());
    // A second start has the same agents.
    let server = Server::start(demo_command(&demo.dir, "en"), demo.dir.path(), "again").await;
    let demo = Demo { server, ..demo };
    let admin = demo.admin().await;
    assert_eq!(admin.get("/ai-agents").await.ok(200)["items"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_assistant_calls_people() {
    let demo = Demo::start("pt").await;
    let admin = demo.admin().await;
    let mut visitor = demo.visitor(&admin).await;
    let hello = answer(&mut visitor, "assistente").await;
    assert!(hello.starts_with("Olá! Eu sou a Aurora"), "{hello}");
    let hours = answer(&mut visitor, "Qual é o horário da loja?").await;
    assert!(hours.contains("das 8h às 19h"), "{hours}");
    let asked = answer(&mut visitor, "Como preparar").await;
    assert!(asked.starts_with("Aqui é o barista"), "{asked}");
    let called = answer(&mut visitor, "quero falar com um atendente").await;
    assert_eq!(called, "Claro, chamo uma pessoa. Um momento.", "the assistant, whom the specialist has told");
    let router = demo.facts["routerId"].as_str().unwrap();
    let ticket = eventually("a ticket", || async {
        let tickets = admin.get(&format!("/tickets?routerId={router}&status=waiting")).await.ok(200);
        tickets["items"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!(ticket["openReason"], "human_handoff", "{ticket}");
    assert!(demo.server.stop().await.0.success());
}
