//! Conversations in a service of your own: your transport outside, FlowSDK's store and turns inside.
//!
//! `cargo run -p flowsdk-examples --bin conversation` keeps everything in memory, gives one contact a
//! phone-shaped session and prints what is answered.

use std::sync::Arc;

use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{ConversationEvent, Conversations, Handover, OutgoingSink};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{IncomingEvent, OutgoingEvent};
use flowsdk_core::flow::{Flow, FlowVersion, HasFlows as _};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId, RouterId, VisitorId};
use flowsdk_core::message::IncomingMessage;
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use serde_json::json;

/// Your transport.
#[derive(Debug)]
struct Printer;

impl OutgoingSink for Printer {
    fn deliver(&self, events: Vec<OutgoingEvent>) {
        for event in events {
            println!("{} <- {}", event.to, event.content.texts().join(" | "));
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let cx = OpContext::system();
    let store = SqlStore::connect(&DatabaseUrl::SqliteMemory, OutboxRoutes::embedded([])).await?;
    let channel = ChannelId::generate(cx.ids());
    let session = SessionId::webchat(&channel, &VisitorId::parse("ana")?, None)?;
    prepare(&store, &cx, &channel, &session).await?;

    let key = Arc::new(MasterKey::new("0123456789abcdef0123456789abcdef")?);
    let conversations =
        Conversations::new(Arc::new(store), cx.clone(), key, Handover::Direct(Arc::new(Printer)));
    for (number, text) in ["hello", "again", "and again"].into_iter().enumerate() {
        let event = ConversationEvent::Incoming(IncomingEvent {
            channel_type: Channel::Webchat,
            session_id: session.clone(),
            phone_number_id: session.phone_number_id().to_owned(),
            from: Some("ana".to_owned()),
            contact_name: "Ana".to_owned(),
            messages: vec![IncomingMessage::text(format!("message-{number}"), text)],
            timestamp: cx.now(),
            context: None,
            flow_id: None,
        });
        // The second call is a repetition: it is stored and answered once.
        conversations.handle(&[&event]).await?;
        conversations.handle(&[&event]).await?;
    }
    Ok(())
}

/// A router with a flow that repeats what it hears, a channel and a contact.
async fn prepare(
    store: &SqlStore,
    cx: &OpContext,
    channel: &ChannelId,
    session: &SessionId,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (router_id, flow_id) = (RouterId::generate(cx.ids()), FlowId::generate(cx.ids()));
    let mut tx = store.begin().await?;
    tx.routers().insert(&Router::new(router_id.clone(), "Example", cx.now())).await?;
    tx.flows().insert(&Flow::new(flow_id.clone(), router_id.clone(), "Echo", cx.now())).await?;
    tx.flows()
        .publish(&FlowVersion {
            id: FlowVersionId::generate(cx.ids()),
            flow_id: flow_id.clone(),
            router_id: router_id.clone(),
            flow_name: "Echo".to_owned(),
            number: 1,
            definition: json!({
                "schemaVersion": 1,
                "startBlockId": "echo",
                "blocks": [{ "id": "echo", "type": "content",
                    "contents": [{ "type": "text", "text": { "body": "You said: {{input}}" } }],
                    "input": { "variable": "said" },
                    "defaultOutput": { "blockId": "echo" } }]
            }),
            created_at: cx.now(),
        })
        .await?;
    tx.routers().set_initial_flow(&router_id, Some(&flow_id)).await?;
    tx.webchat()
        .insert_channel(&WebchatChannel {
            id: channel.clone(),
            router_id,
            name: "Example".to_owned(),
            is_test_channel: false,
            appearance: None,
            initial_flow_id: None,
            embed_secret: None,
            allowed_origins: None,
            created_at: cx.now(),
        })
        .await?;
    let contact = Contact::create(cx, session.contact_identity(), "Ana".to_owned(), Channel::Webchat);
    tx.contacts().insert_or_get(&contact).await?;
    tx.commit().await?;
    Ok(())
}
