//! The choices of an embedder, each with a default.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_agent::executor::Settings;
use flowsdk_agent::inbox::AGENT_GROUP;
use flowsdk_agent::model::ModelProvider;
use flowsdk_agent::set::AgentSet;
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{
    CONVERSATION_GROUP, CONVERSATION_TOPICS, ConversationConsumer, Conversations, Handover, MessagePersister,
    ToolCalls,
};
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::flow::{HttpCaller, ScriptRunner};
use flowsdk_core::stream::consumer::ConsumerConfig;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_outside::http::{AllowedHosts, GuardedHttp};
use flowsdk_outside::requests::requests;
use flowsdk_outside::script::NoScripts;
use flowsdk_store::sql::{DatabaseUrl, Hold, OutboxRoutes, SqlStore, Synchronous};

use super::agents::Agents;
use super::installation::install;
use super::tasks::{DELIVERY_GROUP, Tasks};
use super::transport::Deliveries;
use super::{Answer, Bot, BotError, Transport};
use crate::Flow;

/// Contacts that are answered at once.
const DELIVERIES_AT_ONCE: usize = 64;

/// Collects the parts of a [`Bot`].
pub struct BotBuilder {
    flow: Flow,
    database: DatabaseUrl,
    transport: Option<Arc<dyn Transport>>,
    cx: OpContext,
    key: Option<MasterKey>,
    http: Option<Arc<dyn HttpCaller>>,
    scripts: Option<Arc<dyn ScriptRunner>>,
    agents: Option<Agents>,
    quiet: Duration,
}

impl fmt::Debug for BotBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BotBuilder").field("database", &self.database).finish_non_exhaustive()
    }
}

impl BotBuilder {
    pub(super) fn new(flow: Flow) -> Self {
        Self {
            flow,
            database: DatabaseUrl::SqliteMemory,
            transport: None,
            cx: OpContext::system(),
            key: None,
            http: None,
            scripts: None,
            agents: None,
            quiet: Settings::default().quiet,
        }
    }

    /// Keeps everything in a SQLite file, which is made if it is not there. Without this, everything is in memory.
    #[must_use]
    pub fn sqlite(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        self.database(DatabaseUrl::SqliteFile { path, synchronous: Synchronous::Full })
    }

    /// Keeps everything in the database of this address, for example `"postgres://..".parse()?`.
    #[must_use]
    pub fn database(self, database: DatabaseUrl) -> Self {
        Self { database, ..self }
    }

    /// Delivers answers by `transport`.
    #[must_use]
    pub fn transport(self, transport: impl Transport) -> Self {
        Self { transport: Some(Arc::new(transport)), ..self }
    }

    /// Calls `show` with each answer, for a transport that cannot fail.
    #[must_use]
    pub fn on_answer(self, show: impl Fn(Answer) + Send + Sync + 'static) -> Self {
        self.transport(move |answer| {
            show(answer);
            std::future::ready(Ok(()))
        })
    }

    /// Takes time and ids from `cx`, for tests.
    #[must_use]
    pub fn context(self, cx: OpContext) -> Self {
        Self { cx, ..self }
    }

    /// Decrypts secret variables of the flow with `key`. A bot without it has none.
    #[must_use]
    pub fn master_key(self, key: MasterKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Performs the HTTP requests of the flow by `http`. Without this, requests reach public addresses only.
    #[must_use]
    pub fn http(self, http: Arc<dyn HttpCaller>) -> Self {
        Self { http: Some(http), ..self }
    }

    /// Runs the scripts of the flow by `scripts`. Without this, a script fails with `script_error`.
    #[must_use]
    pub fn scripts(self, scripts: Arc<dyn ScriptRunner>) -> Self {
        Self { scripts: Some(scripts), ..self }
    }

    /// Has these AI agents, whom the `agent` blocks of the flow name, and asks `model` for all of them. What they know is found by
    /// its words. Agents that were there at an earlier start become these; documents that are not in the set any more are forgotten.
    #[must_use]
    pub fn agents(self, set: AgentSet, model: impl ModelProvider + 'static) -> Self {
        Self { agents: Some(Agents { set, model: Arc::new(model) }), ..self }
    }

    /// Has AI agents answer when a contact has been quiet for so long: 1.5 seconds without this. Messages until then are one turn.
    #[must_use]
    pub fn quiet(self, quiet: Duration) -> Self {
        Self { quiet, ..self }
    }

    /// Opens the store, publishes the flow if it is another one than before, and starts the bot's tasks. It takes up
    /// the conversations and deliveries that the last stop or crash left.
    ///
    /// # Errors
    /// [`BotError`].
    pub async fn start(self) -> Result<Bot, BotError> {
        let claim = self.database.claim(Hold::Alone).await?;
        let reads = CONVERSATION_TOPICS.iter().map(|&topic| (topic, CONVERSATION_GROUP));
        // Without a transport nobody would ever read the answers out of the outbox.
        let delivered = self.transport.as_ref().map(|_| (TopicName::OutgoingChat, DELIVERY_GROUP));
        let for_agents = self.agents.as_ref().map(|_| (TopicName::Agent, AGENT_GROUP));
        let routes = OutboxRoutes::embedded(reads.chain(delivered).chain(for_agents));
        let cx = self.cx;
        let store = SqlStore::connect(&self.database, routes).await?;
        let store = Arc::new(store.with_context(cx.clone()));
        install(&store, &cx, &self.flow).await?;
        if let Some(agents) = &self.agents {
            agents.prepare(&store, &cx).await?;
        }

        let http = match self.http {
            Some(http) => http,
            None => Arc::new(
                GuardedHttp::new(AllowedHosts::default())
                    .map_err(|error| BotError::Http(error.to_string()))?,
            ),
        };
        let scripts = self.scripts.unwrap_or_else(|| Arc::new(NoScripts));
        // Nothing was encrypted for a bot without a key, so any key will do.
        let key = Arc::new(self.key.unwrap_or_else(MasterKey::random));
        let tools = ToolCalls::new(
            Arc::clone(&store),
            cx.clone(),
            Arc::clone(&key),
            Arc::clone(&http),
            Arc::clone(&scripts),
        );
        let (outside, performer) = requests(cx.clock(), http, scripts);
        let conversations =
            Conversations::new(Arc::clone(&store), cx.clone(), key, Handover::Stream).with_outside(outside);

        let mut tasks = Tasks::new(Arc::clone(&store), cx.clone(), claim);
        let turns = tasks.consume(
            ConversationConsumer::new(Arc::new(conversations)),
            CONVERSATION_TOPICS,
            CONVERSATION_GROUP,
            ConsumerConfig { parallel: store.writers(), ..ConsumerConfig::named("conversation") },
        );
        tasks.timers(turns.clone());
        tasks.perform(performer, turns.clone());
        if let Some(agents) = self.agents {
            agents.start(&mut tasks, &store, &cx, tools, self.quiet);
        }
        if let Some(transport) = self.transport {
            tasks.delivers = true;
            let deliveries = Deliveries {
                transport,
                statuses: MessagePersister::new(Arc::clone(&store), cx.clone()),
                clock: cx.clock(),
            };
            drop(tasks.consume(
                deliveries,
                &[TopicName::OutgoingChat],
                DELIVERY_GROUP,
                ConsumerConfig { parallel: DELIVERIES_AT_ONCE, ..ConsumerConfig::named("deliveries") },
            ));
        }
        Ok(Bot { store, cx, turns, tasks })
    }
}
