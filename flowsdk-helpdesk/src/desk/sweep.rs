//! What becomes of tickets by themselves: when a time is over, or their session or their agent is gone.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::session::HasSessions;
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::time::Timestamp;

use super::steps::{close_all, end_offers, lock_session, tell, transfer};
use super::survey;
use crate::news::{HasNews, News};
use crate::ticket::{
    CloseKind, Closing, HasTickets, ServiceChange, Ticket, TicketError, TransferTarget, stored,
};

/// Most tickets of one transaction.
const AT_ONCE: u32 = 200;

/// For how long nothing has happened in a session whose agents have left their ticket open. What they say of its end comes
/// long before.
const LEFT_AFTER: Duration = Duration::from_mins(10);

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
        Ok(self.settle(Due::Abandoned).await? + self.settle(Due::Lost).await?)
    }

    /// Ends offers that their users have not answered in time. Returns how many there were.
    ///
    /// # Errors
    /// What was ended before stays ended.
    pub async fn end_offers(&self) -> Result<usize, StorageError> {
        self.settle(Due::Unanswered).await
    }

    /// Notes which service levels are about to be broken or are, and tells so. Returns how many tickets there were.
    ///
    /// # Errors
    /// What was noted before stays noted.
    pub async fn pass_time(&self) -> Result<usize, StorageError> {
        self.settle(Due::Overdue).await
    }

    /// Ends surveys that contacts do not answer in time: their flows go on. Returns how many there were.
    ///
    /// # Errors
    /// What was ended before stays ended.
    pub async fn end_surveys(&self) -> Result<usize, StorageError> {
        self.settle(Due::EndedSurveys).await
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
        let Some(queue) = ticket.queue_id.clone() else { return Ok(false) };
        let to = TransferTarget::Queue(queue);
        transfer(&mut tx, &self.cx, (session, ticket), &to, None, None).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Settles tickets that are due, some in each transaction, until none is left. Returns how many there were.
    async fn settle(&self, due: Due) -> Result<usize, StorageError> {
        let mut settled = 0;
        loop {
            let mut tx = self.store.begin().await?;
            let found = due.claim(&mut tx, self.cx.now()).await?;
            let is_last = found.len() < AT_ONCE as usize;
            if !found.is_empty() {
                settled += due.settle(&mut tx, &self.cx, found).await?;
                tx.commit().await?;
            }
            if is_last {
                return Ok(settled);
            }
        }
    }
}

/// What tickets may be due for.
#[derive(Debug, Clone, Copy)]
enum Due {
    /// Their contact has waited in silence for too long.
    Abandoned,
    /// Their session is gone or has another owner.
    Lost,
    /// Their offer was not answered in time.
    Unanswered,
    /// One of their service clocks has run out.
    Overdue,
    /// Their survey was not answered in time.
    EndedSurveys,
}

impl Due {
    /// Returns the tickets that are due, locked; [`AT_ONCE`] at most.
    async fn claim<T: HasTickets>(self, tx: &mut T, now: Timestamp) -> Result<Vec<Ticket>, StorageError> {
        let tickets = tx.tickets();
        match self {
            Self::Abandoned => tickets.claim_abandoned(now, AT_ONCE).await,
            Self::Lost => tickets.claim_lost(now - LEFT_AFTER, AT_ONCE).await,
            Self::Unanswered => tickets.claim_unanswered(now, AT_ONCE).await,
            Self::Overdue => tickets.claim_overdue(now, AT_ONCE).await,
            Self::EndedSurveys => tickets.claim_ended_surveys(now, AT_ONCE).await,
        }
    }

    /// Does what is due with tickets that are locked: the last step of a transaction. Returns how many there were.
    async fn settle<T: HasTickets + HasOutbox + HasNews>(
        self,
        tx: &mut T,
        cx: &OpContext,
        mut found: Vec<Ticket>,
    ) -> Result<usize, StorageError> {
        Ok(match self {
            Self::Abandoned => {
                close_all(tx, found, &Closing::by_system(CloseKind::Abandoned), cx).await?.len()
            }
            Self::Lost => close_all(tx, found, &Closing::by_system(CloseKind::System), cx).await?.len(),
            Self::Unanswered => end_offers(tx, cx, found).await?.len(),
            Self::Overdue => note_overdue(tx, cx, found).await?,
            Self::EndedSurveys => {
                found.iter_mut().for_each(|ticket| ticket.end_survey(cx.now()));
                survey::save(tx, cx, &found).await?;
                found.len()
            }
        })
    }
}

/// Notes what became of service levels, and tells whoever has the tickets.
async fn note_overdue<T: HasTickets + HasOutbox + HasNews>(
    tx: &mut T,
    cx: &OpContext,
    found: Vec<Ticket>,
) -> Result<usize, StorageError> {
    let now = cx.now();
    let note = |mut ticket: Ticket| {
        let changes = ticket.pass_time(now);
        (ticket, changes)
    };
    let changed: Vec<(Ticket, Vec<ServiceChange>)> = found.into_iter().map(note).collect();
    stored::save_service(tx, cx, &changed).await?;
    tell(tx, news_of(&changed).into_iter(), now).await?;
    count_changes(&changed);
    Ok(changed.len())
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
