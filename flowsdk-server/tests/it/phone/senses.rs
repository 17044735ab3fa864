//! AI agents that hear what contacts send by phone (spec B 4.9, step 5).

use std::time::Duration;

use flowsdk_server::simulator::SentFile;
use serde_json::json;

use super::sending::{PHONE, World, texts};
use crate::agents::attended;
use crate::api::building::{id, published};
use crate::harness::{Setup, eventually, everywhere};
use crate::senses::{Provider, VOICE};

everywhere!(in process: an_agent_hears_a_contact);

async fn an_agent_hears_a_contact(setup: Setup) {
    let provider = Provider::start().await;
    let world = World::new(provider.reached(setup), false).await;
    let (admin, router) = (&world.admin, &world.shop.router);
    let credential = provider.credential(&world.setup, admin).await;
    let agent = json!({ "routerId": router, "type": "specialist", "name": "Vendas", "model": "m",
        "llmCredentialId": credential });
    let agent = id(&admin.post("/ai-agents", &agent).await.ok(201));
    let flow = published(admin, router, "Atendida", &attended(&agent)).await;
    admin.patch(&format!("/routers/{router}"), &json!({ "initialFlowId": flow })).await.ok(200);
    world.says("oi");
    assert_eq!(texts(&world.sent(1).await), ["Sobre?"]);
    let answered = async |count: usize| {
        eventually("an answer", || async {
            world.server.advance(Duration::from_millis(100)).await;
            let sent = world.provider.sent();
            (sent.len() >= count).then(|| texts(&sent).last().map(|text| (*text).to_owned()))
        })
        .await
    };
    let voice = || SentFile { caption: None, ..SentFile::default() };
    world.provider.say_file("111", PHONE, voice(), "audio/ogg; codecs=opus", VOICE.into());
    assert_eq!(answered(2).await.as_deref(), Some("Certo"));
    assert_eq!(provider.told().await.pop(), Some(json!("[Áudio transcrito]: \"dois chás\"")));
    assert_eq!(provider.recordings().await.len(), 1);

    // What the provider does not have is said, and the conversation goes on.
    let gone = json!({ "type": "audio", "audio": { "id": "404404", "mime_type": "audio/ogg" } });
    world.provider.say("111", PHONE, "Ana", gone);
    assert_eq!(answered(3).await.as_deref(), Some("Certo"));
    let told = provider.told().await.pop().expect("an input");
    assert_eq!(told, json!("[Áudio recebido, mas o download falhou]"));
}
