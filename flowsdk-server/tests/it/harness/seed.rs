//! Routers, flows and channels, as the administrative API would create them.

use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::chat::StartOn;
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::flow::{Flow, FlowDefinition, FlowVersion, HasFlows as _};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{SqlStore, SqlTx};
use serde_json::{Value, json};

/// What is in the database.
#[derive(Debug, Clone)]
pub struct Seeded {
    /// The router of everything that has no other.
    pub router: String,
    /// An open channel that echoes.
    pub open: String,
    /// Another one of the same router.
    pub second: String,
    /// A channel with an embed secret that echoes.
    pub closed: String,
    /// A channel with the same embed secret that says who it talks to.
    pub card: String,
    /// A channel whose flow runs a script and makes a request for every message.
    pub calls: String,
    /// A channel that speaks first, asks once, closes the chat and ends.
    pub short: String,
    /// A flow of the same router that says `outro {{input}}`.
    pub other_flow: String,
    /// A flow of another router.
    pub foreign_flow: String,
    /// The embed secret.
    pub secret: String,
}

/// One block that answers `text` and waits again.
fn answers(text: &str) -> Value {
    json!({
        "schemaVersion": 1,
        "startBlockId": "again",
        "settings": { "inputTimeoutMs": 1_800_000, "maxStepsPerTurn": 100 },
        "blocks": [{
            "id": "again", "type": "content", "title": "Eco", "position": { "x": 0, "y": 0 },
            "contents": [{ "type": "text", "text": { "body": text } }],
            "input": { "variable": "said" },
            "defaultOutput": { "blockId": "again" }
        }]
    })
}

pub async fn seed(store: &SqlStore, key: &MasterKey) -> Seeded {
    let cx = OpContext::system();
    let secret = cx.ids().secret(2);
    let mut tx = store.begin().await.unwrap();
    let (router, foreign) = (router(&mut tx, &cx).await, router(&mut tx, &cx).await);
    let echo = flow(&mut tx, &cx, &router, "eco {{input}}").await;
    let card = flow(&mut tx, &cx, &router, "{{contact.name}}/{{plan}}/{{order.id}}/{{input}}").await;
    let other = flow(&mut tx, &cx, &router, "outro {{input}}").await;
    let calling = publish(&mut tx, &cx, &router, "calls", calls()).await;
    let short = publish(&mut tx, &cx, &router, "short", asks_once()).await;
    let foreign_flow = flow(&mut tx, &cx, &foreign, "alheio {{input}}").await;
    tx.routers().set_initial_flow(&router, Some(&echo)).await.unwrap();
    let sealed = Some(key.encrypt(&secret));
    let mut channels = Vec::new();
    let echoes = [(None, None), (None, None), (None, sealed.clone())];
    let others = [(Some(card), sealed), (Some(calling), None), (Some(short.clone()), None)];
    for (flow, embed_secret) in echoes.into_iter().chain(others) {
        let start_on = if flow.as_ref() == Some(&short) { StartOn::Open } else { StartOn::Message };
        let channel = WebchatChannel {
            appearance: Some(json!({ "title": "Loja" })),
            initial_flow_id: flow,
            embed_secret,
            start_on,
            ..WebchatChannel::new(ChannelId::generate(cx.ids()), router.clone(), "Canal", cx.now())
        };
        tx.webchat().insert_channel(&channel).await.unwrap();
        channels.push(channel.id.to_string());
    }
    tx.commit().await.unwrap();
    let mut channels = channels.into_iter();
    let mut next = || channels.next().unwrap();
    Seeded {
        router: router.to_string(),
        open: next(),
        second: next(),
        closed: next(),
        card: next(),
        calls: next(),
        short: next(),
        other_flow: other.to_string(),
        foreign_flow: foreign_flow.to_string(),
        secret,
    }
}

async fn router(tx: &mut SqlTx, cx: &OpContext) -> RouterId {
    let router = Router::new(RouterId::generate(cx.ids()), "Loja", cx.now());
    tx.routers().insert(&router).await.unwrap();
    router.id
}

async fn flow(tx: &mut SqlTx, cx: &OpContext, router: &RouterId, text: &str) -> FlowId {
    publish(tx, cx, router, text, answers(text)).await
}

/// Counts the letters of what it hears with a script, and asks a server that it must not reach.
fn calls() -> Value {
    let mut flow = answers("n={{n}} e={{error}}");
    flow["blocks"][0]["onLeave"] = json!([
        { "type": "executeScript", "script": "variables.said.length * 2", "variable": "n" },
        { "type": "httpRequest", "url": "http://127.0.0.1:9/", "errorVariable": "error", "continueOnError": true }]);
    flow
}

/// Asks how it was, and ends with the answer.
fn asks_once() -> Value {
    let mut flow = answers("Como foi?");
    flow["blocks"][0]["defaultOutput"] = json!({ "blockId": "bye" });
    let bye = json!({
        "id": "bye", "type": "content", "title": "Fim", "position": { "x": 0, "y": 200 },
        "onEnter": [{ "type": "closeChat" }],
        "contents": [{ "type": "text", "text": { "body": "Obrigado por {{said}}" } }],
        "defaultOutput": { "end": true }
    });
    flow["blocks"].as_array_mut().unwrap().push(bye);
    flow
}

async fn publish(tx: &mut SqlTx, cx: &OpContext, router: &RouterId, text: &str, definition: Value) -> FlowId {
    let problems = FlowDefinition::parse(&definition).map_or_else(|p| p, |flow| flow.validate());
    assert!(!problems.iter().any(|problem| problem.is_error()), "{problems:?}");
    let flow = Flow::new(FlowId::generate(cx.ids()), router.clone(), text, cx.now());
    tx.flows().insert(&flow).await.unwrap();
    tx.flows()
        .publish(&FlowVersion {
            id: FlowVersionId::generate(cx.ids()),
            flow_id: flow.id.clone(),
            router_id: router.clone(),
            flow_name: flow.name,
            number: 1,
            definition: definition.into(),
            created_at: cx.now(),
        })
        .await
        .unwrap();
    flow.id
}
