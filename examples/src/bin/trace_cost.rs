use std::sync::Arc; use std::time::Instant;
use flowsdk_channels::webchat::{WebchatChannel, WebchatTx as _};
use flowsdk_core::contact::Contact; use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{ConversationEvent, Conversations, Handover, OutgoingSink};
use flowsdk_core::crypto::MasterKey; use flowsdk_core::flow::{Flow, FlowVersion};
use flowsdk_core::id::*; use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{DEFAULT_TZ, Router}; use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{ConversationTx as _, Store as _, Transaction as _};
use flowsdk_core::stream::event::{IncomingEvent, OutgoingEvent};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore}; use serde_json::json;
#[derive(Debug)] struct Nobody; impl OutgoingSink for Nobody { fn deliver(&self, _: Vec<OutgoingEvent>) {} }
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for round in 0..3 { for trace in [false, true, true, false] {
        let batch: usize = std::env::args().nth(1).map_or(16, |a| a.parse().unwrap());
        let cx = OpContext::system();
        let dir = std::env::temp_dir().join(format!("trace-{}-{round}-{trace}-{}", std::process::id(), cx.ids().next_id()));
        std::fs::create_dir_all(&dir)?;
        let store = SqlStore::connect(&DatabaseUrl::SqliteFile(dir.join("x.db")), OutboxRoutes::embedded([])).await?;
        let channel = ChannelId::generate(cx.ids());
        let (router_id, flow_id) = (RouterId::generate(cx.ids()), FlowId::generate(cx.ids()));
        let mut tx = store.begin().await?;
        tx.routers().insert(&Router { id: router_id.clone(), name: "E".into(), initial_flow_id: None, tz: DEFAULT_TZ.into(), created_at: cx.now() }).await?;
        tx.flows().insert(&Flow { id: flow_id.clone(), router_id: router_id.clone(), name: "E".into(), published_version_id: None, created_at: cx.now() }).await?;
        tx.flows().publish(&FlowVersion { id: FlowVersionId::generate(cx.ids()), flow_id: flow_id.clone(), router_id: router_id.clone(), flow_name: "E".into(), number: 1, created_at: cx.now(),
            definition: json!({ "schemaVersion": 1, "startBlockId": "echo", "settings": { "trace": trace }, "blocks": [
                { "id": "echo", "type": "content", "contents": [{ "type": "text", "text": { "body": "You said: {{input}}" } }], "input": { "variable": "said" }, "defaultOutput": { "blockId": "echo" } }] }) }).await?;
        tx.routers().set_initial_flow(&router_id, Some(&flow_id)).await?;
        tx.webchat().insert_channel(&WebchatChannel { id: channel.clone(), router_id, name: "E".into(), is_test_channel: false, appearance: None, initial_flow_id: None, embed_secret: None, allowed_origins: None, created_at: cx.now() }).await?;
        let mut sessions = Vec::new();
        for n in 0..256 { let s = SessionId::webchat(&channel, &VisitorId::parse(format!("v{n}"))?, None)?;
            tx.contacts().insert_or_get(&Contact::create(&cx, s.contact_identity(), "A".into(), Channel::Webchat)).await?; sessions.push(s); }
        tx.commit().await?;
        let conversations = Conversations::new(Arc::new(store.clone()), cx.clone(), Arc::new(MasterKey::new("0123456789abcdef0123456789abcdef")?), Handover::Direct(Arc::new(Nobody)));
        let mut done = 0u32; let began = Instant::now(); let mut i = 0;
        while done < 20_000 {
            let events: Vec<_> = (0..batch).map(|k| { let s = sessions[(i + k) % 256].clone(); ConversationEvent::Incoming(IncomingEvent { channel_type: Channel::Webchat, phone_number_id: s.phone_number_id().to_owned(), session_id: s, from: None, contact_name: "A".into(), messages: vec![IncomingMessage::text(format!("m{done}-{k}"), "hello there")], timestamp: cx.now(), context: None, flow_id: None }) }).collect();
            i += batch; done += batch as u32;
            conversations.handle(&events.iter().collect::<Vec<_>>()).await?;
            if done % 2048 < batch as u32 { store.checkpoint().await?; }
        }
        let t = began.elapsed().as_secs_f64();
        println!("trace {trace}: {:.0} turns/s", f64::from(done) / t);
        store.close().await; std::fs::remove_dir_all(&dir)?;
    }}
    Ok(())
}
