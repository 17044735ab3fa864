//! Drawing boards.

use std::collections::HashMap;
use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::router::{Admitted, HasRouters, Reach, RouterUnknown};
use flowsdk_core::store::Store;
use flowsdk_core::time::Timestamp;

use super::model::{count, load, queue};
use super::{
    Board, BoardAgent, BoardCard, BoardColumn, BoardError, BoardFilter, BoardQueue, HasBoard, TicketCount,
    TransferTargets,
};
use crate::agent::Person;
use crate::monitoring::{HasMonitoring, midnight};
use crate::names::HasNames;
use crate::ticket::{HasTickets, Ticket, TicketError, TicketStatus, find_within};

/// Most cards of a column.
const CARDS: u32 = 50;

/// Draws boards.
#[derive(Debug)]
pub struct Boards<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> Boards<S>
where
    S::Tx: HasBoard + HasMonitoring + HasNames + HasRouters + HasTickets,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Returns the board of a router. Today begins at midnight in the router's time zone.
    ///
    /// # Errors
    /// [`BoardError::RouterUnknown`], [`BoardError::Storage`].
    pub async fn board(&self, filter: &Admitted<BoardFilter>) -> Result<Board, BoardError> {
        let now = self.cx.now();
        let mut tx = self.store.read().await?;
        let router = tx.routers().find(&filter.router_id).await?.ok_or(RouterUnknown)?;
        let today = midnight(now, Some(router.tz.as_str()));
        let mut counts = tx.board().open_counts(&filter.router_id).await?;
        counts.extend(tx.board().closed_counts(&filter.router_id, today).await?);
        let mut columns = Vec::new();
        for status in [TicketStatus::Waiting, TicketStatus::Assigned, TicketStatus::Closed] {
            columns.push((status, tickets(&mut tx, filter, status, today).await?));
        }
        let mut contacts: Vec<ContactId> = all(&columns).map(|ticket| ticket.contact_id.clone()).collect();
        contacts.sort_unstable();
        contacts.dedup();
        let contacts: HashMap<ContactId, String> =
            tx.names().contacts(&contacts).await?.into_iter().collect();
        let (queues, agents) = around(&mut tx, &filter.router_id, &counts, now).await?;
        let names = Names { contacts, queues: &queues, agents: &agents };
        let column = |(status, tickets): (TicketStatus, Vec<Ticket>)| BoardColumn {
            status,
            count: count(&counts, filter, status),
            cards: tickets.into_iter().map(|ticket| names.card(ticket)).collect(),
        };
        let columns = columns.into_iter().map(column).collect();
        Ok(Board { columns, queues, agents })
    }

    /// Returns to whom a ticket can be transferred.
    ///
    /// # Errors
    /// [`TicketError::NotFound`], [`TicketError::Storage`].
    pub async fn targets(&self, reach: Reach<'_>, id: &TicketId) -> Result<TransferTargets, TicketError> {
        let mut tx = self.store.read().await?;
        let ticket = find_within(&mut tx, reach, id).await?;
        let counts = tx.board().open_counts(&ticket.router_id).await?;
        let (mut queues, agents) = around(&mut tx, &ticket.router_id, &counts, self.cx.now()).await?;
        queues.retain(|queue| queue.is_active);
        Ok(TransferTargets { queues, agents })
    }
}

fn all(columns: &[(TicketStatus, Vec<Ticket>)]) -> impl Iterator<Item = &Ticket> {
    columns.iter().flat_map(|(_, tickets)| tickets)
}

/// Returns the tickets of a column.
async fn tickets<T: HasBoard>(
    tx: &mut T,
    filter: &BoardFilter,
    status: TicketStatus,
    today: Timestamp,
) -> Result<Vec<Ticket>, StorageError> {
    match status {
        TicketStatus::Closed => tx.board().closed_tickets(filter, today, CARDS).await,
        TicketStatus::Waiting | TicketStatus::Assigned => {
            tx.board().open_tickets(filter, status, CARDS).await
        }
    }
}

/// Returns the queues and the agents of a router, with what they have.
async fn around<T: HasBoard + HasMonitoring>(
    tx: &mut T,
    router: &RouterId,
    counts: &[TicketCount],
    now: Timestamp,
) -> Result<(Vec<BoardQueue>, Vec<BoardAgent>), StorageError> {
    let queues = tx.board().queues(router).await?;
    let people = tx.monitoring().agents(Some(std::slice::from_ref(router)), now).await?;
    let agent = |Person { user_id, name, presence }: Person| {
        let assigned = load(&user_id, counts);
        BoardAgent { user_id, name, presence, assigned }
    };
    let queues = queues.into_iter().map(|found| queue(found, counts)).collect();
    Ok((queues, people.into_iter().map(agent).collect()))
}

/// What cards show beside their ticket.
struct Names<'a> {
    contacts: HashMap<ContactId, String>,
    queues: &'a [BoardQueue],
    agents: &'a [BoardAgent],
}

impl Names<'_> {
    fn card(&self, ticket: Ticket) -> BoardCard {
        BoardCard {
            contact_name: self.contacts.get(&ticket.contact_id).cloned().unwrap_or_default(),
            queue_name: ticket.queue_id.as_ref().and_then(|queue| self.queue(queue)),
            assigned_user_name: ticket.assigned_user_id.as_ref().and_then(|user| self.user(user)),
            ticket: ticket.into(),
        }
    }

    fn queue(&self, id: &QueueId) -> Option<String> {
        self.queues.iter().find(|queue| queue.queue_id == *id).map(|queue| queue.name.clone())
    }

    fn user(&self, id: &UserId) -> Option<String> {
        self.agents.iter().find(|agent| agent.user_id == *id).map(|agent| agent.name.clone())
    }
}
