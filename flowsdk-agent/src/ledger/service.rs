//! Turns, as people read them.

use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Admitted, Reach};
use flowsdk_core::store::Store;

use super::{
    AgentTurnError as Error, AgentTurnFilter, AgentTurnId, AgentTurnSummary, AgentTurnView, HasAgentTurns,
};

/// Lists and shows turns. A turn whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct AgentTurns<S> {
    store: Arc<S>,
}

impl<S: Store> AgentTurns<S>
where
    S::Tx: HasAgentTurns,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>) -> Self {
        Self { store }
    }

    /// Returns a page of the turns within reach that pass the filter, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<AgentTurnFilter>,
        page: &PageRequest,
    ) -> Result<Page<AgentTurnSummary>, StorageError> {
        let page = self.store.read().await?.agent_turns().list(filter, reach.routers(), page).await?;
        Ok(page.map(AgentTurnSummary::from))
    }

    /// Returns a turn with all that was said in it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &AgentTurnId) -> Result<AgentTurnView, Error> {
        let turn = self.store.read().await?.agent_turns().find(id).await?;
        let turn = turn.filter(|turn| reach.contains(&turn.router_id)).ok_or(Error::NotFound)?;
        Ok(AgentTurnView::from(turn))
    }
}
