//! The use cases of AI agents.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::HasLlmCredentials;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::AgentId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::in_use::{Dependants, HasReferences, Referred};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, NewRecord as _, RecordChange as _, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::session::HasLiveSessions;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;

use super::{AiAgent, AiAgentChange, AiAgentError as Error, AiAgentFilter, NewAiAgent};
use crate::configuration::{self, AgentConfiguration, ConfigurationTx};

/// Creates, shows, changes and deletes AI agents. An agent whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct AiAgents<S> {
    records: RouterRecords<S, AiAgent>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> AiAgents<S>
where
    S::Tx: HasRecords<AiAgent>
        + HasLlmCredentials
        + HasReferences
        + HasLiveSessions
        + HasRouters
        + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the agents within reach that pass the filter and whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<AiAgentFilter>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<AiAgent>, StorageError> {
        self.records.list(reach, filter, query, page).await
    }

    /// Returns an agent.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &AgentId) -> Result<AiAgent, Error> {
        self.records.get(reach, id).await
    }

    /// Creates an agent, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::CredentialUnknown`],
    /// [`Error::FallbackCredentialUnknown`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewAiAgent>,
        once: Option<Once<AiAgent>>,
    ) -> Result<Outcome<AiAgent>, Error> {
        let agent = new.into_inner().into_record(self.cx.ids(), self.cx.now());
        agent.check()?;
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<AiAgent, Error> {
            check_credentials(tx, &agent).await?;
            steps::check_router(tx, &agent).await?;
            steps::insert(tx, &agent).await?;
            Ok(agent.clone())
        })
        .await?;
        Ok(outcome.inspect(|agent| self.changes.created(author, agent)))
    }

    /// Changes an agent. Turns that run go on with what they have read.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Invalid`], [`Error::CredentialUnknown`], [`Error::FallbackCredentialUnknown`],
    /// [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &AgentId,
        change: AiAgentChange,
    ) -> Result<AiAgent, Error> {
        let mut tx = self.store.begin().await?;
        let before: AiAgent = steps::find_for_update(&mut tx, reach, id).await?;
        let after = change.apply(before.clone());
        after.check()?;
        check_credentials(&mut tx, &after).await?;
        let after = steps::save(&mut tx, after, self.cx.now()).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes an agent, with its system prompts, its guardrails and the routes from it. Sessions that it has, routes to it
    /// and published flows that name it stand in the way. With `force` the routes go, too; a session goes on with its flow
    /// at its next turn, for the reason `fallback_stuck` (rulings S13).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InUse`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &AgentId,
        force: bool,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before: AiAgent = steps::find_for_update(&mut tx, reach, id).await?;
        if !force {
            let mut dependants = Dependants::default();
            dependants.sessions(tx.live_sessions().count_of_agent(&before.router_id, id).await?);
            dependants.references(&tx.references().referrers(Referred::AiAgent(id)).await?);
            let naming = tx.references().published_flows_naming(&before.router_id, id.as_str()).await?;
            dependants.published_flows(&naming);
            dependants.must_be_none().map_err(Error::InUse)?;
        }
        tx.records().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

impl<S: Store> AiAgents<S>
where
    S::Tx: HasRecords<AiAgent> + ConfigurationTx,
{
    /// Returns the configuration of an agent, as a turn that began now would read it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn configuration(&self, reach: Reach<'_>, id: &AgentId) -> Result<AgentConfiguration, Error> {
        // One transaction: an agent never stands beside parts that came after it.
        let mut tx = self.store.read().await?;
        let agent: AiAgent = steps::find(&mut tx, reach, id).await?;
        Ok(configuration::read(&mut tx, &agent).await?)
    }
}

/// Checks that the credentials that an agent names exist.
async fn check_credentials<X: HasLlmCredentials>(tx: &mut X, agent: &AiAgent) -> Result<(), Error> {
    if let Some(id) = &agent.llm_credential_id {
        tx.llm_credentials().find(id).await?.ok_or(Error::CredentialUnknown)?;
    }
    if let Some(id) = &agent.fallback_llm_credential_id {
        tx.llm_credentials().find(id).await?.ok_or(Error::FallbackCredentialUnknown)?;
    }
    Ok(())
}
