//! The AI agents of a bot.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_agent::executor::{Executor, OneModel, Settings};
use flowsdk_agent::inbox::{AGENT_GROUP, AgentInbox};
use flowsdk_agent::knowledge::{Ingest, OfflineEmbedders};
use flowsdk_agent::model::ModelProvider;
use flowsdk_agent::set::AgentSet;
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::{Handover, ToolCalls};
use flowsdk_core::stream::consumer::ConsumerConfig;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_store::sql::SqlStore;
use tokio::sync::Notify;

use super::BotError;
use super::installation::install_agents;
use super::tasks::Tasks;

/// How long a stop waits for a model, beside the time for which a contact has to be quiet.
const LAST_ANSWERS: Duration = Duration::from_secs(15);

/// The agents, as the embedder chose them.
pub(super) struct Agents {
    pub(super) set: AgentSet,
    pub(super) model: Arc<dyn ModelProvider>,
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agents").field("model", &self.model).finish_non_exhaustive()
    }
}

impl Agents {
    /// Makes their records, and reads what they know: the first contact finds it.
    pub(super) async fn prepare(&self, store: &Arc<SqlStore>, cx: &OpContext) -> Result<(), BotError> {
        self.set.check()?;
        install_agents(store, cx, &self.set).await?;
        let ingest = ingest(store, cx);
        while ingest.round().await? > 0 {}
        Ok(())
    }

    /// Starts their tasks.
    pub(super) fn start(
        self,
        tasks: &mut Tasks,
        store: &Arc<SqlStore>,
        cx: &OpContext,
        tools: ToolCalls<SqlStore>,
        quiet: Duration,
    ) {
        let arrived = Arc::new(Notify::new());
        drop(tasks.consume(
            AgentInbox::new(Arc::clone(store), cx.clone(), Arc::clone(&arrived)),
            &[TopicName::Agent],
            AGENT_GROUP,
            ConsumerConfig::named("agent"),
        ));
        let executor = Executor::new(
            Arc::clone(store),
            cx.clone(),
            Arc::new(OneModel(self.model)),
            tools,
            Handover::Stream,
            Settings { quiet, ..Settings::default() },
            arrived,
        );
        tasks.agents(executor, ingest(store, cx), quiet + LAST_ANSWERS);
    }
}

fn ingest(store: &Arc<SqlStore>, cx: &OpContext) -> Ingest<SqlStore> {
    let ingest = Ingest::new(Arc::clone(store), cx.clone(), Arc::new(OfflineEmbedders));
    ingest.with_index(Arc::clone(store) as _)
}
