//! The first records of the demonstration.

use flowsdk_agent::set::AgentSetTx;
use flowsdk_channels::webchat::{HasWebchat, Purpose, WebchatChannel};
use flowsdk_core::chat::{Attachments, StartOn};
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::fault::{BoxError, StorageError};
use flowsdk_core::flow::{Flow, FlowDefinition, FlowVersion, HasFlows, Written};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::kv::{Key, KeyValue, KeyValueExt as _};
use flowsdk_core::media::MediaKind;
use flowsdk_core::router::{HasRouters, Router};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::text::Language;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::assistant::{self, CREDENTIAL};

/// The texts of the demonstration in one language.
struct Texts {
    /// The flow, in the form that every flow has.
    flow: &'static str,
    /// The name of the router and its flow, and the subtitle of the page.
    name: &'static str,
}

const PORTUGUESE: Texts = Texts { flow: include_str!("flow.pt.json"), name: "Demonstração" };
const ENGLISH: Texts = Texts { flow: include_str!("flow.en.json"), name: "Demonstration" };

impl Texts {
    fn of(language: Language) -> &'static Self {
        match language {
            Language::Portuguese => &PORTUGUESE,
            Language::English => &ENGLISH,
        }
    }
}

/// The ids of the demonstration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Demo {
    /// The test channel to chat on.
    pub channel_id: ChannelId,
    /// The router with the example flow.
    pub router_id: RouterId,
}

/// The key that holds the ids of the demonstration, once everything is there.
fn demo_key() -> Key<Demo> {
    Key::new("demo".to_owned(), None)
}

/// Creates router, AI agents, flow and test channel in `language`, once a database.
pub async fn seed<S: Store>(
    store: &S,
    kv: &dyn KeyValue,
    cx: &OpContext,
    language: Language,
) -> Result<Demo, BoxError>
where
    S::Tx: HasRouters + HasFlows + HasWebchat + HasLlmCredentials + AgentSetTx,
{
    if let Some(demo) = kv.read(&demo_key()).await? {
        return Ok(demo);
    }
    let demo = Demo { channel_id: ChannelId::generate(cx.ids()), router_id: RouterId::generate(cx.ids()) };
    create(store, cx, &demo, language).await?;
    // Only once everything is there: a crash in between leaves an unused router and begins anew.
    Ok(kv.claim(&demo_key(), &demo).await?)
}

async fn create<S: Store>(store: &S, cx: &OpContext, demo: &Demo, language: Language) -> Result<(), BoxError>
where
    S::Tx: HasRouters + HasFlows + HasWebchat + HasLlmCredentials + AgentSetTx,
{
    let texts = Texts::of(language);
    let agents = assistant::agents(language)?;
    let credential = CREDENTIAL.parse()?;
    let definition = Written::read(texts.flow)?;
    let problems = FlowDefinition::parse(&definition).map(|flow| flow.validate()).unwrap_or_else(|p| p);
    if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
        return Err(format!("the demonstration flow is not valid: {problem:?}").into());
    }
    let flow_id = FlowId::generate(cx.ids());
    let name = texts.name;
    let mut tx = store.begin().await?;
    let written: Result<(), StorageError> = async {
        tx.routers().insert(&Router::new(demo.router_id.clone(), name, cx.now())).await?;
        assistant::plant(&mut tx, cx, &demo.router_id, &agents, &credential).await?;
        tx.flows().insert(&Flow::new(flow_id.clone(), demo.router_id.clone(), name, cx.now())).await?;
        tx.flows()
            .publish(&FlowVersion {
                id: FlowVersionId::generate(cx.ids()),
                flow_id: flow_id.clone(),
                router_id: demo.router_id.clone(),
                flow_name: name.to_owned(),
                number: 1,
                definition,
                created_at: cx.now(),
            })
            .await?;
        tx.routers().set_initial_flow(&demo.router_id, Some(&flow_id)).await?;
        tx.webchat()
            .insert_channel(&WebchatChannel {
                purpose: Purpose::RouterTest,
                start_on: StartOn::Open,
                attachments: Some(Attachments {
                    kinds: vec![MediaKind::Image, MediaKind::Audio, MediaKind::Video, MediaKind::Document],
                    max_bytes: 16 << 20,
                }),
                appearance: Some(json!({
                    "title": "FlowSDK", "subtitle": name,
                    "launcher": { "greeting": "Questions about our coffee? Ask away." },
                    "texts": { "pt-BR": { "greeting": "Dúvidas sobre o nosso café? Pergunte." } },
                })),
                // The name is that of spec B 4.4.
                ..WebchatChannel::new(demo.channel_id.clone(), demo.router_id.clone(), "Teste", cx.now())
            })
            .await
    }
    .await;
    written?;
    tx.commit().await?;
    Ok(())
}
