//! A database for our server: one router, its flow, and channels that run it.

use std::path::Path;

use anyhow::{Context as _, Result};
use flowsdk_channels::webchat::{HasWebchat as _, Purpose, WebchatChannel};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::flow::{CompiledFlow, Flow, FlowVersion, HasFlows as _};
use flowsdk_core::id::{ChannelId, FlowId, FlowVersionId, RouterId};
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore, Synchronous};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

/// `CRYPTO_SECRET` of the server that is to open the database.
pub(crate) const CRYPTO_SECRET: &str = "0123456789abcdef0123456789abcdef";
/// The secret of the channels.
const EMBED_SECRET: &str = "the embed secret of the load program";
/// How long a token is good for, in seconds.
const TOKEN_LIFE: i64 = 3_600;

/// A channel that was made.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    id: ChannelId,
    secret: String,
}

impl Channel {
    /// A channel that was made over the API, with its embed secret.
    pub(crate) fn new(id: ChannelId, secret: &str) -> Self {
        Self { id, secret: secret.to_owned() }
    }

    /// Returns the channel's id.
    pub(crate) fn id(&self) -> String {
        self.id.to_string()
    }

    /// The same for the store.
    pub(crate) fn channel_id(&self) -> &ChannelId {
        &self.id
    }

    /// The `auth` of a visitor: a signed token, so that nobody waits for bcrypt.
    pub(crate) fn auth(&self, visitor: &str) -> Result<String> {
        Ok(json!({ "channelId": self.id, "token": self.token(visitor)? }).to_string())
    }

    /// The token of a visitor.
    pub(crate) fn token(&self, visitor: &str) -> Result<String> {
        let expires = OpContext::system().now().as_millis() / 1_000 + TOKEN_LIFE;
        let claims = json!({ "sub": visitor, "exp": expires });
        let _chosen_before = jsonwebtoken::crypto::aws_lc::DEFAULT_PROVIDER.install_default();
        let key = EncodingKey::from_secret(self.secret.as_bytes());
        Ok(jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key)?)
    }
}

/// Who may enter the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Visitors with a signed token, so that nobody waits for bcrypt.
    Token,
    /// Anybody; each gets a session key.
    Anybody,
}

/// The address of a SQLite file.
pub(crate) fn sqlite(file: &Path) -> DatabaseUrl {
    DatabaseUrl::SqliteFile { path: file.to_owned(), synchronous: Synchronous::Full }
}

/// The rows of a database: a router with one flow, and channels that run it.
pub(crate) struct Rows {
    /// The name of the router, the flow and the channels.
    pub(crate) name: &'static str,
    pub(crate) definition: Value,
    /// Whom the channels serve; test channels can be written to over HTTP too.
    pub(crate) purpose: Purpose,
}

impl Rows {
    /// Makes the schema and the rows, and returns a channel for each of `openings`.
    pub(crate) async fn make<const N: usize>(
        self,
        database: &DatabaseUrl,
        openings: [Opening; N],
    ) -> Result<[Channel; N]> {
        let store = SqlStore::connect(database, OutboxRoutes::embedded([])).await?;
        let cx = OpContext::system();
        let router = Router::new(RouterId::generate(cx.ids()), self.name, cx.now());
        let flow = Flow::new(FlowId::generate(cx.ids()), router.id.clone(), self.name, cx.now());
        let version = FlowVersion {
            id: FlowVersionId::generate(cx.ids()),
            flow_id: flow.id.clone(),
            router_id: router.id.clone(),
            flow_name: flow.name.clone(),
            number: 1,
            definition: self.definition.into(),
            created_at: cx.now(),
        };
        CompiledFlow::compile(&version).map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
        let key = MasterKey::new(CRYPTO_SECRET)?;
        let channels = openings.map(|opening| WebchatChannel {
            purpose: self.purpose,
            embed_secret: (opening == Opening::Token).then(|| key.encrypt(EMBED_SECRET)),
            ..WebchatChannel::new(ChannelId::generate(cx.ids()), router.id.clone(), self.name, cx.now())
        });
        let mut tx = store.begin().await?;
        tx.routers().insert(&router).await?;
        tx.flows().insert(&flow).await?;
        tx.flows().publish(&version).await?;
        tx.routers().set_initial_flow(&router.id, Some(&flow.id)).await?;
        for channel in &channels {
            tx.webchat().insert_channel(channel).await?;
        }
        tx.commit().await.context("the rows of the database")?;
        store.close().await;
        Ok(channels.map(|channel| Channel::new(channel.id, EMBED_SECRET)))
    }
}

/// Makes the database of a race, with a test channel.
pub(crate) async fn seed(database: &DatabaseUrl, opening: Opening) -> Result<Channel> {
    let rows = Rows { name: "Race", definition: definition(), purpose: Purpose::RouterTest };
    let [channel] = rows.make(database, [opening]).await?;
    Ok(channel)
}

/// Three blocks in a ring. Flows cannot count, so the second answer repeats a captured variable where the
/// peer's has a number.
fn definition() -> Value {
    let block = |id: &str, text: &str, next: &str| {
        json!({ "id": id, "type": "content", "contents": [{ "type": "text", "text": { "body": text } }],
                "input": { "variable": "answer" }, "defaultOutput": { "blockId": next } })
    };
    json!({ "schemaVersion": 1, "startBlockId": "b1", "blocks": [
        block("b1", "Olá Flow Chat{{contact.name}}, você disse: {{input}}", "b2"),
        block("b2", "Passo 2: {{lastInput}} ({{answer}})", "b3"),
        block("b3", "Fim do passo 3, Flow Chat{{contact.name}}: {{input}}", "b1"),
    ] })
}
