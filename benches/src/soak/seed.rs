//! The database of a soak: one router with its flow, an open channel, and one that embed tokens open.

use anyhow::{Context as _, Result};
use flowsdk_channels::webchat::{HasWebchat as _, WebchatChannel};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::flow::{CompiledFlow, Flow, FlowVersion, HasFlows as _};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{OutboxRoutes, SqlStore};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

/// `CRYPTO_SECRET` of the servers.
pub(super) const CRYPTO_SECRET: &str = "0123456789abcdef0123456789abcdef";
const EMBED_SECRET: &str = "the embed secret of the soak";
/// How long a token is good for, in seconds.
const TOKEN_LIFE: i64 = 3_600;

/// The channels that were made.
#[derive(Debug, Clone)]
pub(super) struct Seeded {
    /// The channel of anonymous visitors.
    pub(super) open: String,
    /// The channel of visitors with a token.
    pub(super) closed: String,
}

impl Seeded {
    /// Signs a token for a visitor.
    pub(super) fn token(&self, visitor: &str) -> String {
        let expires = OpContext::system().now().as_millis() / 1_000 + TOKEN_LIFE;
        let claims = json!({ "sub": visitor, "exp": expires });
        let _chosen_before = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let key = EncodingKey::from_secret(EMBED_SECRET.as_bytes());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key).unwrap_or_default()
    }
}

/// Makes the schema and its rows.
pub(super) async fn seed(database: &str, definition: Value) -> Result<Seeded> {
    let store = SqlStore::connect(&database.parse()?, OutboxRoutes::embedded([])).await?;
    let cx = OpContext::system();
    let router = Router::new(RouterId::generate(cx.ids()), "Soak", cx.now());
    let flow = Flow::new(FlowId::generate(cx.ids()), router.id.clone(), "Soak", cx.now());
    let version = FlowVersion {
        id: FlowVersionId::generate(cx.ids()),
        flow_id: flow.id.clone(),
        router_id: router.id.clone(),
        flow_name: flow.name.clone(),
        number: 1,
        definition,
        created_at: cx.now(),
    };
    CompiledFlow::compile(&version).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
    let key = MasterKey::new(CRYPTO_SECRET)?;
    let channel = |embed_secret| WebchatChannel {
        id: ChannelId::generate(cx.ids()),
        router_id: router.id.clone(),
        name: "Soak".to_owned(),
        is_test_channel: false,
        appearance: None,
        initial_flow_id: None,
        embed_secret,
        allowed_origins: None,
        created_at: cx.now(),
    };
    let (open, closed) = (channel(None), channel(Some(key.encrypt(EMBED_SECRET))));
    let mut tx = store.begin().await?;
    tx.routers().insert(&router).await?;
    tx.flows().insert(&flow).await?;
    tx.flows().publish(&version).await?;
    tx.routers().set_initial_flow(&router.id, Some(&flow.id)).await?;
    tx.webchat().insert_channel(&open).await?;
    tx.webchat().insert_channel(&closed).await?;
    tx.commit().await.context("the database of the soak")?;
    store.close().await;
    Ok(Seeded { open: open.id.to_string(), closed: closed.id.to_string() })
}
