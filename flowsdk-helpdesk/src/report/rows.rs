//! The tickets of a period, one by one.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::page::Cursor;
use flowsdk_core::store::Store;
use flowsdk_core::time::Timestamp;

use super::{HasReports, Period};
use crate::names::HasNames;
use crate::ticket::Ticket;

/// Tickets of a page.
const PAGE: u32 = 1_000;

/// A ticket with the names of what it refers to, where that is there.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct TicketRow {
    pub ticket: Ticket,
    pub queue_name: Option<String>,
    pub assigned_user_name: Option<String>,
    pub contact_name: Option<String>,
    /// The names of its tags, in their order.
    pub tags: Vec<String>,
}

impl TicketRow {
    /// Returns the time from opening to assignment, in milliseconds.
    pub fn waiting_ms(&self) -> Option<i64> {
        between(Some(self.ticket.created_at), self.ticket.assigned_at)
    }

    /// Returns the time from opening to the first answer, in milliseconds.
    pub fn first_response_ms(&self) -> Option<i64> {
        between(Some(self.ticket.created_at), self.ticket.first_replied_at)
    }

    /// Returns the time from assignment to the end, in milliseconds.
    pub fn service_ms(&self) -> Option<i64> {
        between(self.ticket.assigned_at, self.ticket.closed_at)
    }
}

fn between(begin: Option<Timestamp>, end: Option<Timestamp>) -> Option<i64> {
    Some(end?.as_millis() - begin?.as_millis())
}

/// Reads the tickets of a period, oldest first. A page shows them as they are when it is read.
#[derive(Debug)]
pub struct TicketRows<S> {
    store: Arc<S>,
    only: Option<Vec<RouterId>>,
    period: Period,
    after: Option<Cursor>,
    is_over: bool,
}

impl<S: Store> TicketRows<S>
where
    S::Tx: HasReports + HasNames,
{
    pub(super) fn new(store: Arc<S>, only: Option<Vec<RouterId>>, period: Period) -> Self {
        Self { store, only, period, after: None, is_over: false }
    }

    /// Returns the period.
    pub fn period(&self) -> Period {
        self.period
    }

    /// Returns the next page; an empty one is the end.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn next_page(&mut self) -> Result<Vec<TicketRow>, StorageError> {
        if self.is_over {
            return Ok(Vec::new());
        }
        let mut tx = self.store.read().await?;
        let found = tx.reports().page(self.only.as_deref(), self.period, self.after.as_ref(), PAGE).await?;
        self.is_over = found.len() < PAGE as usize;
        self.after = found.last().map(Ticket::place);
        named(&mut tx, found).await
    }
}

async fn named<T: HasNames>(tx: &mut T, tickets: Vec<Ticket>) -> Result<Vec<TicketRow>, StorageError> {
    let names = tx.names();
    let queues = names.queues(&each(tickets.iter().filter_map(|one| one.queue_id.as_ref()))).await?;
    let users = tickets.iter().filter_map(|one| one.assigned_user_id.as_ref());
    let users = names.users(&each(users)).await?;
    let contacts = names.contacts(&each(tickets.iter().map(|one| &one.contact_id))).await?;
    let tags = names.tags(&each(tickets.iter().flat_map(|one| &one.tag_ids))).await?;
    let (queues, users, contacts, tags) = (table(queues), table(users), table(contacts), table(tags));
    let row = |ticket: Ticket| TicketRow {
        queue_name: ticket.queue_id.as_ref().and_then(|queue| queues.get(queue)).cloned(),
        assigned_user_name: ticket.assigned_user_id.as_ref().and_then(|user| users.get(user).cloned()),
        contact_name: contacts.get(&ticket.contact_id).cloned(),
        tags: ticket.tag_ids.iter().filter_map(|tag| tags.get(tag).cloned()).collect(),
        ticket,
    };
    Ok(tickets.into_iter().map(row).collect())
}

/// Returns each of them once.
fn each<'a, I: Ord + Clone + 'a>(ids: impl Iterator<Item = &'a I>) -> Vec<I> {
    let ids: BTreeSet<&I> = ids.collect();
    ids.into_iter().cloned().collect()
}

fn table<I: Eq + Hash>(names: Vec<(I, String)>) -> HashMap<I, String> {
    names.into_iter().collect()
}
