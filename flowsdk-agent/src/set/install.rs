//! The records of a set.

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{LlmCredentialId, RouterId};
use flowsdk_core::page::{MAX_PAGE, PageRequest};
use flowsdk_core::record::HasRecords;

use super::{AgentSet, SetAgent, SetDocument};
use crate::agent::AiAgent;
use crate::guardrail::{Guardrail, GuardrailId, GuardrailRules};
use crate::knowledge::{Document, DocumentFilter, DocumentId, HasKnowledge};
use crate::part::{AgentPart, AgentPartFilter};
use crate::prompt::{SystemPrompt, SystemPromptId};
use crate::route::{AgentRoute, AgentRouteId};

/// A transaction with every record of a set. Every transaction with those accessors is one.
pub trait AgentSetTx:
    HasRecords<AiAgent>
    + HasRecords<SystemPrompt>
    + HasRecords<Guardrail>
    + HasRecords<AgentRoute>
    + HasRecords<Document>
    + HasKnowledge
{
}

impl<
    T: HasRecords<AiAgent>
        + HasRecords<SystemPrompt>
        + HasRecords<Guardrail>
        + HasRecords<AgentRoute>
        + HasRecords<Document>
        + HasKnowledge,
> AgentSetTx for T
{
}

impl AgentSet {
    /// Makes the records of a set, which has been checked, in a router: its agents with all that stands beside them. The router's
    /// documents are those of the set afterwards; one that says the same as before stays as it is. The models of the agents are
    /// asked by `credential`.
    ///
    /// Agents that an earlier set had stay, as their sessions may go on.
    ///
    /// # Errors
    /// [`StorageError`]: the transaction cannot be committed.
    pub async fn install<T: AgentSetTx>(
        &self,
        tx: &mut T,
        cx: &OpContext,
        router: &RouterId,
        credential: &LlmCredentialId,
    ) -> Result<(), StorageError> {
        for agent in &self.agents {
            put_agent(tx, agent.record(cx, router, credential)).await?;
            forget_parts(tx, agent, |prompt: &SystemPrompt| prompt.id.clone()).await?;
            forget_parts(tx, agent, |guardrail: &Guardrail| guardrail.id.clone()).await?;
            forget_parts(tx, agent, |route: &AgentRoute| route.id.clone()).await?;
            tx.records().insert(&agent.system_prompt(cx, router)).await?;
            for text in &agent.guardrails {
                tx.records().insert(&agent.guardrail(cx, router, text, None)).await?;
            }
            if agent.rules.is_some() {
                tx.records().insert(&agent.guardrail(cx, router, "", agent.rules.clone())).await?;
            }
        }
        for route in &self.routes {
            let route = AgentRoute {
                id: AgentRouteId::generate(cx.ids()),
                router_id: router.clone(),
                from_agent_id: route.from.clone(),
                to_agent_id: route.to.clone(),
                description: route.description.clone(),
                is_active: true,
                created_at: cx.now(),
                updated_at: cx.now(),
            };
            tx.records().insert(&route).await?;
        }
        self.put_documents(tx, cx, router).await
    }

    async fn put_documents<T: AgentSetTx>(
        &self,
        tx: &mut T,
        cx: &OpContext,
        router: &RouterId,
    ) -> Result<(), StorageError> {
        let filter = DocumentFilter { router_id: Some(router.clone()), status: None };
        let mut page = PageRequest { limit: MAX_PAGE, after: None };
        let mut kept = Vec::new();
        loop {
            let found = HasRecords::<Document>::records(tx).list(&filter, None, &page).await?;
            for document in found.items {
                match self.documents.iter().find(|wanted| wanted.name == document.name) {
                    Some(wanted) if is_said_by(tx, wanted, &document).await? => kept.push(document.name),
                    _ => HasRecords::<Document>::records(tx).delete(&document.id).await?,
                }
            }
            let Some(next) = found.next else { break };
            page.after = Some(next);
        }
        for wanted in self.documents.iter().filter(|wanted| !kept.contains(&wanted.name)) {
            let document = wanted.record(cx, router);
            tx.records().insert(&document).await?;
            tx.knowledge().put_content(&document.id, wanted.text.as_bytes()).await?;
            tx.knowledge().set_due(&document.id, Some(cx.now()), 0).await?;
        }
        Ok(())
    }
}

/// Returns whether a document is the one that is wanted.
async fn is_said_by<T: AgentSetTx>(
    tx: &mut T,
    wanted: &SetDocument,
    document: &Document,
) -> Result<bool, StorageError> {
    let is_same = document.tags == wanted.tags
        && document.media_type == wanted.media_type
        && document.size == wanted.text.len() as u64;
    Ok(is_same && tx.knowledge().content(&document.id).await?.as_deref() == Some(wanted.text.as_bytes()))
}

async fn put_agent<T: AgentSetTx>(tx: &mut T, agent: AiAgent) -> Result<(), StorageError> {
    let records = HasRecords::<AiAgent>::records(tx);
    match records.find_for_update(&agent.id).await? {
        Some(known) => records.save(&AiAgent { created_at: known.created_at, ..agent }).await,
        None => records.insert(&agent).await,
    }
}

/// Deletes what stands beside an agent, of one kind.
async fn forget_parts<T: HasRecords<P>, P: AgentPart>(
    tx: &mut T,
    agent: &SetAgent,
    id: impl Fn(&P) -> P::Id,
) -> Result<(), StorageError> {
    let filter = AgentPartFilter { router_id: None, agent_id: Some(agent.id.clone()) };
    let page = PageRequest { limit: MAX_PAGE, after: None };
    loop {
        let found = tx.records().list(&filter, None, &page).await?;
        for part in &found.items {
            tx.records().delete(&id(part)).await?;
        }
        if found.next.is_none() {
            return Ok(());
        }
    }
}

impl SetAgent {
    fn record(&self, cx: &OpContext, router: &RouterId, credential: &LlmCredentialId) -> AiAgent {
        AiAgent {
            id: self.id.clone(),
            router_id: router.clone(),
            agent_type: self.agent_type,
            task: None,
            name: self.name.clone().unwrap_or_else(|| self.id.to_string()),
            description: self.description.clone(),
            model: self.model.clone(),
            llm_credential_id: Some(credential.clone()),
            fallback_model: None,
            fallback_llm_credential_id: None,
            enabled_internal_tools: self.tools.clone(),
            native_tool_descriptions: Default::default(),
            contact_variable_keys: None,
            rag_tags: self.rag_tags.clone(),
            has_vision: false,
            max_output_tokens: self.max_output_tokens,
            is_active: true,
            created_at: cx.now(),
            updated_at: cx.now(),
        }
    }

    fn system_prompt(&self, cx: &OpContext, router: &RouterId) -> SystemPrompt {
        SystemPrompt {
            id: SystemPromptId::generate(cx.ids()),
            router_id: router.clone(),
            agent_id: self.id.clone(),
            name: self.name.clone().unwrap_or_else(|| self.id.to_string()),
            text: self.prompt.clone(),
            order: 1,
            is_active: true,
            created_at: cx.now(),
            updated_at: cx.now(),
        }
    }

    fn guardrail(
        &self,
        cx: &OpContext,
        router: &RouterId,
        text: &str,
        rules: Option<GuardrailRules>,
    ) -> Guardrail {
        Guardrail {
            id: GuardrailId::generate(cx.ids()),
            router_id: router.clone(),
            agent_id: Some(self.id.clone()),
            text: text.to_owned(),
            rules,
            is_active: true,
            created_at: cx.now(),
            updated_at: cx.now(),
        }
    }
}

impl SetDocument {
    fn record(&self, cx: &OpContext, router: &RouterId) -> Document {
        let (id, name, tags) = (DocumentId::generate(cx.ids()), self.name.clone(), self.tags.clone());
        Document::new(id, router.clone(), name, tags, (self.media_type, self.text.len()), cx.now())
    }
}
