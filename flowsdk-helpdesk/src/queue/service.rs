//! The use cases of queues.

use std::sync::Arc;

use flowsdk_core::change::{Author, Change, ChangeLog, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome};
use flowsdk_core::in_use::{Dependants, HasReferences, Referred};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::session::HasSessions;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::words::NameQuery;

use super::{HasQueues as _, NewQueue, Queue, QueueChange, QueueError as Error};
use crate::agent::{DeskAgent, DeskAgentId};
use crate::desk::steps::close_all;
use crate::dispatch::{DispatchTx, Dispatcher};
use crate::ticket::{CloseKind, Closing, HasTickets as _};

/// Creates, shows, changes and deletes queues, and says who works in them. A queue whose router is out of the caller's
/// reach is not found.
#[derive(Debug)]
pub struct Queues<S> {
    records: RouterRecords<S, Queue>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
    dispatcher: Arc<Dispatcher<S>>,
}

impl<S: Store> Queues<S>
where
    S::Tx: DispatchTx
        + HasRecords<DeskAgent>
        + HasSessions
        + HasOutbox
        + HasReferences
        + HasRouters
        + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`. Where a change makes room for waiting tickets,
    /// `dispatcher` gives them out.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        changes: Arc<dyn ChangeLog>,
        dispatcher: Arc<Dispatcher<S>>,
    ) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes, dispatcher }
    }

    /// Returns a page of the queues within reach whose names fit `query`, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Queue>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns a queue.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &QueueId) -> Result<Queue, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a queue, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::NameTaken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewQueue>,
        once: Option<Once<Queue>>,
    ) -> Result<Outcome<Queue>, Error> {
        self.records.create(author, new, once).await
    }

    /// Changes a queue.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NameTaken`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &QueueId,
        change: QueueChange,
    ) -> Result<Queue, Error> {
        let queue = self.records.change(author, reach, id, change).await?;
        self.dispatcher.dispatch_each(std::slice::from_ref(id)).await;
        Ok(queue)
    }

    /// Deletes a queue. Open tickets, distribution rules and published flows that name it stand in the way. With `force` the
    /// tickets close with [`CloseKind::System`], so that their flows go on, and the rules go (rulings S13).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InUse`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &QueueId,
        force: bool,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        // Whoever opens a ticket in it waits for its row.
        let before: Queue = steps::find_for_update(&mut tx, reach, id).await?;
        if force {
            let open = tx.tickets().open_in_for_update(id).await?;
            close_all(&mut tx, open, &Closing::by_system(CloseKind::System), &self.cx).await?;
        } else {
            let mut dependants = Dependants::default();
            dependants.tickets(tx.tickets().count_open_in(id).await?);
            dependants.references(&tx.references().referrers(Referred::Queue(id)).await?);
            let naming = tx.references().published_flows_naming(&before.router_id, id.as_str()).await?;
            dependants.published_flows(&naming);
            dependants.must_be_none().map_err(Error::InUse)?;
        }
        HasRecords::<Queue>::records(&mut tx).delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }

    /// Returns the agents of a queue, in the order of their ids.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn agents(&self, reach: Reach<'_>, id: &QueueId) -> Result<Vec<DeskAgent>, Error> {
        let mut tx = self.store.read().await?;
        let _: Queue = steps::find(&mut tx, reach, id).await?;
        Ok(tx.queues().agents(id).await?)
    }

    /// Lets an agent of the queue's router work in it, and gives them what waits there if they are online.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::AgentUnknown`], [`Error::Storage`].
    pub async fn add_agent(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &QueueId,
        agent: &DeskAgentId,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let queue: Queue = steps::find_for_update(&mut tx, reach, id).await?;
        let agent = HasRecords::<DeskAgent>::records(&mut tx).find(agent).await?;
        let agent = agent.filter(|agent| agent.router_id == queue.router_id).ok_or(Error::AgentUnknown)?;
        let before = tx.queues().agents(id).await?;
        tx.queues().add_agent(id, &agent.id).await?;
        let after = tx.queues().agents(id).await?;
        tx.commit().await?;
        self.note_agents(author, &queue, &before, &after);
        self.dispatcher.dispatch_each(std::slice::from_ref(id)).await;
        Ok(())
    }

    /// Takes an agent out of a queue. Tickets that they have stay theirs.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::AgentUnknown`], [`Error::Storage`].
    pub async fn remove_agent(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &QueueId,
        agent: &DeskAgentId,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let queue: Queue = steps::find_for_update(&mut tx, reach, id).await?;
        let before = tx.queues().agents(id).await?;
        if !tx.queues().remove_agent(id, agent).await? {
            return Err(Error::AgentUnknown);
        }
        let after = tx.queues().agents(id).await?;
        tx.commit().await?;
        self.note_agents(author, &queue, &before, &after);
        Ok(())
    }

    /// Notes who works in a queue now.
    fn note_agents(&self, author: &Author, queue: &Queue, before: &[DeskAgent], after: &[DeskAgent]) {
        let with = |agents: &[DeskAgent]| {
            let mut json = queue.to_json();
            json["agentIds"] = agents.iter().map(|agent| agent.id.as_str()).collect();
            json
        };
        let change = Change::Updated { before: with(before), after: with(after), hidden: Vec::new() };
        self.changes.note(author, queue.entity(), change);
    }
}
