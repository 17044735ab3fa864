//! What stands beside an AI agent.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::agent::AiAgent;
use flowsdk_agent::configuration::{AgentParts, AgentPartsRepository, HasAgentParts, ToolFlow};
use flowsdk_agent::guardrail::Guardrail;
use flowsdk_agent::prompt::SystemPrompt;
use flowsdk_agent::route::AgentRoute;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{FlowId, FlowVersionId, RouterId};

use super::SqlTx;
use super::knowledge::KNOWN;
use super::record::Record as _;
use super::statement::{Sql, sql};

const PROMPTS: Sql = sql(concat!(
    SystemPrompt::SELECT,
    " WHERE agent_id = $1 AND is_active = 1 ORDER BY place, created_at, id"
));

const GUARDRAILS: Sql = sql(concat!(
    Guardrail::SELECT,
    " WHERE router_id = $1 AND (agent_id IS NULL OR agent_id = $2) AND is_active = 1 ORDER BY created_at, id"
));

const GUARDRAILS_OF_ALL: Sql = sql(concat!(
    Guardrail::SELECT,
    " WHERE router_id = $1 AND agent_id IS NULL AND is_active = 1 ORDER BY created_at, id"
));

const ROUTES: Sql =
    sql(concat!(AgentRoute::SELECT, " WHERE from_agent_id = $1 AND is_active = 1 ORDER BY created_at, id"));

const TARGETS: Sql = sql(concat!(
    AiAgent::SELECT,
    " WHERE id IN (SELECT to_agent_id FROM ai_agent_route WHERE from_agent_id = $1 AND is_active = 1)"
));

const TOOLS: Sql = sql("SELECT id, name, published_version_id FROM flow
     WHERE router_id = $1 AND kind = 'tool' AND published_version_id IS NOT NULL ORDER BY created_at, id");

super::statement::statements! { PROMPTS, GUARDRAILS, GUARDRAILS_OF_ALL, ROUTES, TARGETS, TOOLS }

super::accessor::has!(HasAgentParts::agent_parts -> AgentPartsRepository);

#[async_trait]
impl AgentPartsRepository for SqlTx {
    async fn parts_of(&mut self, agent: &AiAgent) -> Result<AgentParts, StorageError> {
        let tools: Vec<(FlowId, String, FlowVersionId)> =
            self.conn.fetch_all(TOOLS, (&agent.router_id,)).await?;
        let tool = |(flow_id, name, version_id)| ToolFlow { flow_id, name, version_id };
        let known: Option<(i64,)> =
            self.conn.fetch_optional(KNOWN, (&agent.router_id, Json(&agent.rag_tags))).await?;
        Ok(AgentParts {
            prompts: self.conn.fetch_all(PROMPTS, (&agent.id,)).await?,
            guardrails: self.conn.fetch_all(GUARDRAILS, (&agent.router_id, &agent.id)).await?,
            routes: self.conn.fetch_all(ROUTES, (&agent.id,)).await?,
            targets: self.conn.fetch_all(TARGETS, (&agent.id,)).await?,
            tools: tools.into_iter().map(tool).collect(),
            has_knowledge: known.is_some(),
        })
    }

    async fn guardrails_of(&mut self, router: &RouterId) -> Result<Vec<Guardrail>, StorageError> {
        self.conn.fetch_all(GUARDRAILS_OF_ALL, (router,)).await
    }
}
