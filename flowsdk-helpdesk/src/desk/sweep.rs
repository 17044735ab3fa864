//! What becomes of tickets by themselves: abandoned ones, those whose session is gone, and those whose agent is.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::HasSessions;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;

use super::steps::{close_all, end_offers, lock_session, tell, transfer};
use super::survey;
use crate::news::{HasNews, News};
use crate::ticket::{
    CloseKind, Closing, HasTickets, ServiceChange, Ticket, TicketError, TransferTarget, stored,
};

/// Most tickets of one transaction.
const AT_ONCE: u32 = 200;

/// Closes tickets that nobody closes, and lets those wait again that nobody works.
#[derive(Debug)]
pub struct DeskSweep<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> DeskSweep<S>
where
    S::Tx: HasTickets + HasSessions + HasOutbox + HasNews,
{
    /// Creates the sweep over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Closes waiting tickets whose contact has written nothing for as long as their queue allows (rulings D3), and open
    /// tickets whose session is gone or was given to another owner. Returns how many it closed.
    ///
    /// # Errors
    /// What was closed before stays closed.
    pub async fn tick(&self) -> Result<usize, StorageError> {
        let abandoned = self.close(CloseKind::Abandoned).await?;
        Ok(abandoned + self.close(CloseKind::System).await?)
    }

    /// Ends offers that their users have not answered in time. Returns how many there were.
    ///
    /// # Errors
    /// What was ended before stays ended.
    pub async fn end_offers(&self) -> Result<usize, StorageError> {
        let mut ended = 0;
        loop {
            let mut tx = self.store.begin().await?;
            let found = tx.tickets().claim_unanswered(self.cx.now(), AT_ONCE).await?;
            let is_last = found.len() < AT_ONCE as usize;
            if !found.is_empty() {
                ended += end_offers(&mut tx, &self.cx, found).await?.len();
                tx.commit().await?;
            }
            if is_last {
                return Ok(ended);
            }
        }
    }

    /// Notes which service levels are about to be broken or are, and tells so. Returns how many tickets there were.
    ///
    /// # Errors
    /// What was noted before stays noted.
    pub async fn pass_time(&self) -> Result<usize, StorageError> {
        let mut noted = 0;
        loop {
            let now = self.cx.now();
            let mut tx = self.store.begin().await?;
            let found = tx.tickets().claim_overdue(now, AT_ONCE).await?;
            let count = found.len();
            if count > 0 {
                let changed: Vec<(Ticket, Vec<ServiceChange>)> = found
                    .into_iter()
                    .map(|mut ticket| {
                        let changes = ticket.pass_time(now);
                        (ticket, changes)
                    })
                    .collect();
                stored::save_service(&mut tx, &self.cx, &changed).await?;
                tell(&mut tx, news_of(&changed).into_iter(), now).await?;
                tx.commit().await?;
                count_changes(&changed);
                noted += count;
            }
            if count < AT_ONCE as usize {
                return Ok(noted);
            }
        }
    }

    /// Ends surveys that contacts do not answer in time: their flows go on. Returns how many there were.
    ///
    /// # Errors
    /// What was ended before stays ended.
    pub async fn end_surveys(&self) -> Result<usize, StorageError> {
        let mut ended = 0;
        loop {
            let now = self.cx.now();
            let mut tx = self.store.begin().await?;
            let mut found = tx.tickets().claim_ended_surveys(now, AT_ONCE).await?;
            let count = found.len();
            if count > 0 {
                found.iter_mut().for_each(|ticket| ticket.end_survey(now));
                survey::save(&mut tx, &self.cx, &found).await?;
                tx.commit().await?;
                ended += count;
            }
            if count < AT_ONCE as usize {
                return Ok(ended);
            }
        }
    }

    /// Lets tickets wait again whose users are no agents any more, or were not at the desk for as long as the queue allows.
    /// Returns how many there were.
    ///
    /// # Errors
    /// What waits again stays so.
    pub async fn take_back(&self) -> Result<usize, StorageError> {
        let found = self.store.read().await?.tickets().unattended(self.cx.now(), AT_ONCE).await?;
        let mut taken = 0;
        for ticket in &found {
            match self.take_back_one(ticket).await {
                Ok(was_taken) => taken += usize::from(was_taken),
                Err(TicketError::Storage(error)) => return Err(error),
                Err(error) => tracing::debug!(ticket = %ticket.id, %error, "a ticket ended meanwhile"),
            }
        }
        Ok(taken)
    }

    async fn take_back_one(&self, seen: &Ticket) -> Result<bool, TicketError> {
        let mut tx = self.store.begin().await?;
        let session = lock_session(&mut tx, seen).await?;
        let ticket = tx.tickets().find_for_update(&seen.id).await?;
        let is_same = |ticket: &Ticket| {
            (ticket.status, &ticket.assigned_user_id) == (seen.status, &seen.assigned_user_id)
        };
        let Some(ticket) = ticket.filter(is_same) else { return Ok(false) };
        let to = TransferTarget::Queue(ticket.queue_id.clone());
        transfer(&mut tx, &self.cx, (session, ticket), &to, None, None).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn close(&self, kind: CloseKind) -> Result<usize, StorageError> {
        let mut closed = 0;
        loop {
            let now = self.cx.now();
            let mut tx = self.store.begin().await?;
            let found: Vec<Ticket> = match kind {
                CloseKind::Abandoned => tx.tickets().claim_abandoned(now, AT_ONCE).await?,
                _ => tx.tickets().claim_lost(AT_ONCE).await?,
            };
            let is_last = found.len() < AT_ONCE as usize;
            if !found.is_empty() {
                closed += close_all(&mut tx, found, &Closing::by_system(kind), &self.cx).await?.len();
                tx.commit().await?;
            }
            if is_last {
                return Ok(closed);
            }
        }
    }
}

fn news_of(changed: &[(Ticket, Vec<ServiceChange>)]) -> Vec<News> {
    let each =
        changed.iter().flat_map(|(ticket, changes)| changes.iter().map(move |change| (ticket, change)));
    each.filter_map(|(ticket, change)| News::of_service(ticket, *change)).collect()
}

fn count_changes(changed: &[(Ticket, Vec<ServiceChange>)]) {
    for change in changed.iter().flat_map(|(_, changes)| changes) {
        let labels = [("target", change.target.name()), ("status", change.status.name())];
        metrics::counter!("flowsdk_service_levels", &labels).increment(1);
    }
}
