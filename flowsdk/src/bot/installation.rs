//! The records of a bot: its router, flow and channel.

use flowsdk_agent::set::AgentSet;
use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::{HasLlmCredentials as _, LlmCredential};
use flowsdk_core::fault::StorageError;
use flowsdk_core::flow::{Flow as FlowRecord, FlowVersion, HasFlows as _};
use flowsdk_core::id::{FlowId, FlowVersionId, LlmCredentialId, RouterId};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{SqlStore, SqlTx};

use crate::Flow;

const ROUTER: &str = "bot-router";
const FLOW: &str = "bot-flow";
/// The credential of the agents' model. The model is in the program, so that it has neither a key nor an address.
const MODEL: &str = "bot-model";
pub(super) const CHANNEL: &str = "bot";

/// An id of the bot's own records.
#[allow(clippy::expect_used, reason = "the texts are constants of this file and have the shape of ids")]
pub(super) fn bot_id<T: TryFrom<String>>(text: &str) -> T
where
    T::Error: std::fmt::Debug,
{
    T::try_from(text.to_owned()).expect("has the shape of an id")
}

/// Creates the records in a new store. In a store that has them, publishes the flow if its definition is another one;
/// sessions that have begun go on with the version they began with.
pub(super) async fn install(store: &SqlStore, cx: &OpContext, flow: &Flow) -> Result<(), StorageError> {
    let (router, flow_id): (RouterId, FlowId) = (bot_id(ROUTER), bot_id(FLOW));
    let mut tx = store.begin().await?;
    if tx.routers().find_many(std::slice::from_ref(&router)).await?.is_empty() {
        tx.routers().insert(&Router::new(router.clone(), flow.name(), cx.now())).await?;
        tx.flows().insert(&FlowRecord::new(flow_id.clone(), router.clone(), flow.name(), cx.now())).await?;
        tx.webchat()
            .insert_channel(&WebchatChannel::new(bot_id(CHANNEL), router.clone(), flow.name(), cx.now()))
            .await?;
    }
    if publish(&mut tx, cx, flow, &flow_id, &router).await? {
        tx.routers().set_initial_flow(&router, Some(&flow_id)).await?;
    }
    tx.commit().await
}

/// Creates the records of the agents, or makes them what they are now.
pub(super) async fn install_agents(
    store: &SqlStore,
    cx: &OpContext,
    agents: &AgentSet,
) -> Result<(), StorageError> {
    let id: LlmCredentialId = bot_id(MODEL);
    let mut tx = store.begin().await?;
    if tx.llm_credentials().find(&id).await?.is_none() {
        let credential = LlmCredential::of_own_model(id.clone(), MODEL, cx.now());
        tx.llm_credentials().insert(&credential).await?;
    }
    agents.install(&mut tx, cx, &bot_id(ROUTER), &id).await?;
    tx.commit().await
}

/// Publishes the definition, unless it is published; whether it did.
async fn publish(
    tx: &mut SqlTx,
    cx: &OpContext,
    flow: &Flow,
    flow_id: &FlowId,
    router: &RouterId,
) -> Result<bool, StorageError> {
    let stored = tx.flows().find_many(std::slice::from_ref(flow_id)).await?.pop();
    let published = match stored.and_then(|stored| stored.published_version_id) {
        Some(version) => tx.flows().find_versions(&[version]).await?.pop(),
        None => None,
    };
    if published.as_ref().is_some_and(|version| version.definition == *flow.definition()) {
        return Ok(false);
    }
    tx.flows()
        .publish(&FlowVersion {
            id: FlowVersionId::generate(cx.ids()),
            flow_id: flow_id.clone(),
            router_id: router.clone(),
            flow_name: flow.name().to_owned(),
            number: published.map_or(0, |version| version.number) + 1,
            definition: flow.written().clone(),
            created_at: cx.now(),
        })
        .await?;
    Ok(true)
}
