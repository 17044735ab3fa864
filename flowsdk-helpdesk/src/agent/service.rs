//! The use cases of agents.

use std::sync::Arc;

use flowsdk_core::change::{Author, Change, ChangeLog, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::in_use::Dependants;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, NewRecord as _, RecordChange as _, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::store::{Store, Transaction as _, transact};
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::words::NameQuery;
use serde_json::json;

use super::{
    Absence, AgentError as Error, DeskAgent, DeskAgentChange, DeskAgentId, HasPresence, NewDeskAgent,
    PresenceStatus,
};
use crate::agent_group::AgentGroup;
use crate::desk::steps::end_offers;
use crate::news::{DeskEvent, HasNews, News};
use crate::ticket::HasTickets;

/// Makes users agents, shows, changes and deletes them. An agent whose router is out of the caller's reach is not found.
#[derive(Debug)]
pub struct DeskAgents<S> {
    records: RouterRecords<S, DeskAgent>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> DeskAgents<S>
where
    S::Tx: HasRecords<DeskAgent>
        + HasRecords<AgentGroup>
        + HasPresence
        + HasTickets
        + HasNews
        + HasOutbox
        + HasRouters
        + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the agents within reach, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<DeskAgent>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns an agent.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &DeskAgentId) -> Result<DeskAgent, Error> {
        self.records.get(reach, id).await
    }

    /// Makes a user an agent, once for each idempotency key. Who reaches some routers only takes users of groups that are
    /// confined to routers, this one among them: presence and login schedule of an agent hold for their user everywhere.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::UserUnknown`], [`Error::GroupUnknown`], [`Error::Taken`],
    /// [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        reach: Reach<'_>,
        new: Admitted<NewDeskAgent>,
        once: Option<Once<DeskAgent>>,
    ) -> Result<Outcome<DeskAgent>, Error> {
        let new = new.into_inner();
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<DeskAgent, Error> {
                let agent = new.into_record(self.cx.ids(), self.cx.now());
                steps::check_router(tx, &agent).await?;
                let is_theirs = reach.routers().is_none()
                    || tx.presence().is_confined_to(&agent.user_id, &agent.router_id).await?;
                if !is_theirs {
                    return Err(Error::UserUnknown);
                }
                check_group(tx, &agent).await?;
                steps::insert(tx, &agent).await?;
                Ok(agent)
            })
            .await?;
        Ok(outcome.inspect(|agent| self.changes.created(author, agent)))
    }

    /// Changes an agent.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::GroupUnknown`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DeskAgentId,
        change: DeskAgentChange,
    ) -> Result<DeskAgent, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let before: DeskAgent = steps::find_for_update(tx, reach, id).await?;
            let after = change.apply(before.clone());
            check_group(tx, &after).await?;
            let after = steps::save(tx, after, self.cx.now()).await?;
            Ok((before, after))
        })
        .await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes an agent. Open tickets prevent it, unless `force`: those that are offered to them are not any more then, and a
    /// sweep lets the others wait again (rulings S13).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::InUse`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DeskAgentId,
        force: bool,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        // Whoever gives them a ticket waits for their row.
        let before: DeskAgent = steps::find_for_update(&mut tx, reach, id).await?;
        if force {
            let offered = tx.tickets().offered_to_for_update(&before.router_id, &before.user_id).await?;
            end_offers(&mut tx, &self.cx, offered).await?;
        } else {
            let agent = (before.router_id.clone(), before.user_id.clone());
            let open = tx.tickets().loads(std::slice::from_ref(&agent)).await?;
            let mut dependants = Dependants::default();
            dependants.tickets(open.into_iter().map(|(.., count)| count).sum());
            dependants.must_be_none().map_err(Error::InUse)?;
        }
        HasRecords::<DeskAgent>::records(&mut tx).delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

impl<S: Store> DeskAgents<S>
where
    S::Tx: HasRecords<DeskAgent> + HasPresence + HasNews,
{
    /// Says that an agent takes no tickets, and tells their desk. What they had said is in the log of changes.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn set_absence(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &DeskAgentId,
        absence: Absence,
    ) -> Result<DeskAgent, Error> {
        let (now, status) = (self.cx.now(), PresenceStatus::from(absence));
        let (agent, was) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let agent: DeskAgent = steps::find(tx, reach, id).await?;
            let was = tx.presence().people(std::slice::from_ref(&agent.user_id), now).await?.pop();
            tx.presence().set(&agent.user_id, status, status.until(now)).await?;
            let news = News::new(&agent.user_id, DeskEvent::Status(status));
            tx.news().append(&[news], now).await?;
            Ok((agent, was.map_or(PresenceStatus::Offline, |person| person.presence)))
        })
        .await?;
        let presence = |status: PresenceStatus| json!({ "presence": status });
        let change = Change::Updated { before: presence(was), after: presence(status), hidden: Vec::new() };
        self.changes.note(author, agent.entity(), change);
        Ok(agent)
    }
}

/// An agent is in a group of their own router only.
async fn check_group<X: HasRecords<AgentGroup>>(tx: &mut X, agent: &DeskAgent) -> Result<(), Error> {
    let Some(group) = &agent.group_id else { return Ok(()) };
    let found = HasRecords::<AgentGroup>::records(tx).find(group).await?;
    found.filter(|group| group.router_id == agent.router_id).ok_or(Error::GroupUnknown)?;
    Ok(())
}
