//! Who has a ticket: assigning it, picking it up, and answering an offer.

use flowsdk_core::context::OpContext;
use flowsdk_core::event::WebhookEventType;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, TicketId, UserId};
use flowsdk_core::store::{Retries, Store, transact};

use super::steps::{end_offers, tell};
use super::{By, Desk, DeskTx};
use crate::news::News;
use crate::queue::{HasQueues as _, Queue};
use crate::ticket::{
    HasTickets as _, Ticket, TicketError as Error, TicketKind, TicketStatus, find_within, stored,
};

impl<S: Store> Desk<S>
where
    S::Tx: DeskTx,
{
    /// Gives a waiting ticket to a user who works in its queue, or to whom its queue chooses. Without anybody who has room
    /// it stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Closed`], [`Error::AssignedToAnother`], [`Error::WithAgents`],
    /// [`Error::AgentNotInQueue`], [`Error::LimitReached`], [`Error::Storage`].
    pub async fn assign(&self, by: By<'_>, id: &TicketId, to: Option<&UserId>) -> Result<Ticket, Error> {
        let ticket = self.get(by.reach, id).await?;
        let Some(user) = to else { return self.assign_to_any(by, ticket).await };
        let mut retries = Retries::default();
        loop {
            match self.assign_to(by, id, user).await {
                Err(Error::Storage(error)) if error.is_lost_race() && retries.again() => {}
                other => return other,
            }
        }
    }

    async fn assign_to_any(&self, by: By<'_>, before: Ticket) -> Result<Ticket, Error> {
        must_wait(&before, None)?;
        if let Some(queue) = &before.queue_id {
            self.dispatcher.dispatch(queue).await?;
        }
        let after = self.get(by.reach, &before.id).await?;
        if after.status == TicketStatus::Assigned {
            self.changes.updated(by.author, &before, &after);
        }
        Ok(after)
    }

    async fn assign_to(&self, by: By<'_>, id: &TicketId, user: &UserId) -> Result<Ticket, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let found = find_within(tx, by.reach, id).await?;
            let router = std::slice::from_ref(&found.router_id);
            tx.tickets().lock_agent(user, Some(router)).await?;
            let queues = tx.queues().of_user(user, Some(router)).await?;
            let before = tx.tickets().find_for_update(id).await?.ok_or(Error::NotFound)?;
            must_wait(&before, Some(user))?;
            if before.status == TicketStatus::Assigned {
                return Ok((before.clone(), before));
            }
            let queue = queues.iter().find(|queue| Some(&queue.id) == before.queue_id.as_ref());
            let queue = queue.ok_or(Error::AgentNotInQueue)?;
            // The place of an offered ticket was kept when it was offered.
            let has_place =
                before.offered_to() == Some(user) || has_room(tx, user, &[queue]).await?.contains(&queue.id);
            if !has_place {
                return Err(Error::LimitReached);
            }
            let after = give(tx, before.clone(), user, &self.cx).await?;
            Ok((before, after))
        })
        .await?;
        if before != after {
            self.changes.updated(by.author, &before, &after);
        }
        Ok(after)
    }

    /// Gives the oldest ticket that waits in a queue of the user to them; `None` if none waits.
    ///
    /// # Errors
    /// [`Error::LimitReached`] when tickets wait, and they have as many as their queues allow, [`Error::Storage`].
    pub async fn pick_up(&self, by: By<'_>, user: &UserId) -> Result<Option<Ticket>, Error> {
        self.pick_up_from(by, user, None).await
    }

    /// As [`Self::pick_up`], of one queue where it is given.
    ///
    /// # Errors
    /// [`Error::AgentNotInQueue`], and those of [`Self::pick_up`].
    pub async fn pick_up_from(
        &self,
        by: By<'_>,
        user: &UserId,
        queue: Option<&QueueId>,
    ) -> Result<Option<Ticket>, Error> {
        let mut retries = Retries::default();
        loop {
            match self.pick_up_once(by, user, queue).await {
                Err(Error::Storage(error)) if error.is_lost_race() && retries.again() => {}
                other => return other,
            }
        }
    }

    async fn pick_up_once(
        &self,
        by: By<'_>,
        user: &UserId,
        from: Option<&QueueId>,
    ) -> Result<Option<Ticket>, Error> {
        let picked = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let routers = by.reach.routers();
            tx.tickets().lock_agent(user, routers).await?;
            let Some(before) = tx.tickets().claim_oldest_for(user, routers, from).await? else {
                // Why there is none is asked only now: most get a ticket.
                let queues = tx.queues().of_user(user, routers).await?;
                let asked: Vec<&Queue> =
                    queues.iter().filter(|queue| from.is_none_or(|from| queue.id == *from)).collect();
                if from.is_some() && asked.is_empty() {
                    return Err(Error::AgentNotInQueue);
                }
                let is_full = !asked.is_empty() && has_room(tx, user, &asked).await?.is_empty();
                return if is_full { Err(Error::LimitReached) } else { Ok(None) };
            };
            let after = give(tx, before.clone(), user, &self.cx).await?;
            Ok(Some((before, after)))
        })
        .await?;
        Ok(picked.map(|(before, after)| {
            self.changes.updated(by.author, &before, &after);
            after
        }))
    }

    /// Gives a ticket that is offered to a user to them. One that they have already stays theirs.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotOffered`], [`Error::Closed`], [`Error::AssignedToAnother`], [`Error::Storage`].
    pub async fn accept(&self, by: By<'_>, user: &UserId, id: &TicketId) -> Result<Ticket, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let before = offered(tx, by, user, id).await?;
            if before.status == TicketStatus::Assigned {
                return Ok((before.clone(), before));
            }
            // Its place among their tickets was kept when it was offered.
            let after = give(tx, before.clone(), user, &self.cx).await?;
            Ok((before, after))
        })
        .await?;
        if before != after {
            self.changes.updated(by.author, &before, &after);
        }
        Ok(after)
    }

    /// Ends the offer of a ticket to a user: it is offered to the next one.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotOffered`], [`Error::Closed`], [`Error::AssignedToAnother`], [`Error::Storage`].
    pub async fn decline(&self, by: By<'_>, user: &UserId, id: &TicketId) -> Result<Ticket, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let before = offered(tx, by, user, id).await?;
            let after = end_offers(tx, &self.cx, vec![before.clone()]).await?.pop();
            Ok((before, after.ok_or(Error::NotOffered)?))
        })
        .await?;
        self.changes.updated(by.author, &before, &after);
        self.dispatcher.dispatch_each(after.queue_id.as_slice()).await;
        self.refill(Some(user)).await;
        self.get(by.reach, id).await
    }
}

/// Gives a ticket, which is locked, to a user, and tells them.
async fn give<T: DeskTx>(
    tx: &mut T,
    mut ticket: Ticket,
    user: &UserId,
    cx: &OpContext,
) -> Result<Ticket, Error> {
    let now = cx.now();
    let offered = ticket.offered_to().filter(|other| *other != user).cloned();
    ticket.assign(user.clone(), now)?;
    stored::save_holders(tx, cx, WebhookEventType::TicketAssigned, std::slice::from_ref(&ticket)).await?;
    let withdrawn = offered.map(|other| News::of_offer_end(&other, &ticket));
    tell(tx, News::of_assignment(&ticket).into_iter().chain(withdrawn), now).await?;
    Ok(ticket)
}

/// Returns a ticket that is offered to a user, or that they have accepted already, locked.
async fn offered<T: DeskTx>(tx: &mut T, by: By<'_>, user: &UserId, id: &TicketId) -> Result<Ticket, Error> {
    find_within(tx, by.reach, id).await?;
    let ticket = tx.tickets().find_for_update(id).await?.ok_or(Error::NotFound)?;
    must_wait(&ticket, Some(user))?;
    let is_theirs = ticket.status == TicketStatus::Assigned || ticket.offered_to() == Some(user);
    if is_theirs { Ok(ticket) } else { Err(Error::NotOffered) }
}

/// Checks that a ticket waits, or is with `user` already.
fn must_wait(ticket: &Ticket, user: Option<&UserId>) -> Result<(), Error> {
    match ticket.status {
        TicketStatus::Waiting => Ok(()),
        TicketStatus::Closed => Err(Error::Closed),
        TicketStatus::Assigned if ticket.kind == TicketKind::Ai => Err(Error::WithAgents),
        TicketStatus::Assigned if user.is_some() && ticket.assigned_user_id.as_ref() == user => Ok(()),
        TicketStatus::Assigned => Err(Error::AssignedToAnother),
    }
}

/// Returns the queues among these in which a user, who is locked as an agent, has room for a ticket.
async fn has_room<T: DeskTx>(
    tx: &mut T,
    user: &UserId,
    queues: &[&Queue],
) -> Result<Vec<QueueId>, StorageError> {
    let open = tx.tickets().loads_of(user).await?;
    let free = |queue: &&&Queue| {
        let open = open.iter().find(|(router, _)| *router == queue.router_id).map_or(0, |(_, open)| *open);
        open < i64::from(queue.max_concurrent_tickets_per_agent)
    };
    Ok(queues.iter().filter(free).map(|queue| queue.id.clone()).collect())
}
