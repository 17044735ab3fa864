//! The use cases of quick replies.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::contact::HasContactCatalog;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, TicketId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, NewRecord as _, RecordChange as _, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach};
use flowsdk_core::session::HasSessionCatalog;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::words::NameQuery;

use super::{
    HasQuickReplies, Known, NewQuickReply, QuickReply, QuickReplyChange, QuickReplyError as Error,
    QuickReplyId, ResolvedQuickReply, resolve,
};
use crate::queue::Queue;
use crate::ticket::{HasTickets, TicketError, find_within};

/// Most quick replies that are offered for a ticket.
const OFFERED: u32 = 500;

/// Creates, shows, changes and deletes quick replies, and offers them for a ticket. One whose router is out of the
/// caller's reach is not found.
#[derive(Debug)]
pub struct QuickReplies<S> {
    records: RouterRecords<S, QuickReply>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> QuickReplies<S>
where
    S::Tx: HasRecords<QuickReply>
        + HasRecords<Queue>
        + HasQuickReplies
        + HasTickets
        + HasContactCatalog
        + HasSessionCatalog
        + HasRouters
        + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the quick replies within reach whose names fit `query`, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<QuickReply>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns a quick reply.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &QuickReplyId) -> Result<QuickReply, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a quick reply, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::QueueUnknown`], [`Error::ShortcutTaken`], [`Error::Idempotency`],
    /// [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewQuickReply>,
        once: Option<Once<QuickReply>>,
    ) -> Result<Outcome<QuickReply>, Error> {
        let new = new.into_inner();
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<QuickReply, Error> {
                let reply = new.into_record(self.cx.ids(), self.cx.now());
                steps::check_router(tx, &reply).await?;
                check_queue(tx, &reply.router_id, reply.queue_id.as_ref()).await?;
                steps::insert(tx, &reply).await?;
                Ok(reply)
            })
            .await?;
        Ok(outcome.inspect(|reply| self.changes.created(author, reply)))
    }

    /// Changes a quick reply.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::QueueUnknown`], [`Error::ShortcutTaken`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &QuickReplyId,
        change: QuickReplyChange,
    ) -> Result<QuickReply, Error> {
        let mut tx = self.store.begin().await?;
        let before: QuickReply = steps::find_for_update(&mut tx, reach, id).await?;
        let after = change.apply(before.clone());
        check_queue(&mut tx, &after.router_id, after.queue_id.as_ref()).await?;
        let after = steps::save(&mut tx, after, self.cx.now()).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a quick reply.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &QuickReplyId) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }

    /// Returns the quick replies that the queue of a ticket has, by name, with the values of their placeholders: of the
    /// contact, and of the session while it lasts.
    ///
    /// # Errors
    /// [`TicketError::NotFound`], [`TicketError::Storage`].
    pub async fn for_ticket(
        &self,
        reach: Reach<'_>,
        id: &TicketId,
    ) -> Result<Vec<ResolvedQuickReply>, TicketError> {
        let mut tx = self.store.read().await?;
        let ticket = find_within(&mut tx, reach, id).await?;
        let replies =
            tx.quick_replies().for_queue(&ticket.router_id, ticket.queue_id.as_ref(), OFFERED).await?;
        if replies.is_empty() {
            return Ok(Vec::new());
        }
        let contact = tx.contact_catalog().find(std::slice::from_ref(&ticket.contact_id), None).await?.pop();
        let contact = contact.ok_or(TicketError::NotFound)?.contact;
        let context = match &ticket.session_id {
            Some(session) => tx.session_catalog().find(session).await?,
            None => None,
        };
        let context = context.map(|stored| stored.session.variables).unwrap_or_default();
        let known = Known {
            contact_name: &contact.name,
            contact_number: &contact.phone_number,
            contact_variables: &contact.variables,
            context: &context,
            now: self.cx.now(),
        };
        let resolved = |reply: QuickReply| ResolvedQuickReply {
            text: resolve(&reply.text, known),
            id: reply.id,
            name: reply.name,
            shortcut: reply.shortcut,
        };
        Ok(replies.into_iter().map(resolved).collect())
    }
}

/// A quick reply names a queue of its own router only.
async fn check_queue<X: HasRecords<Queue>>(
    tx: &mut X,
    router: &RouterId,
    queue: Option<&QueueId>,
) -> Result<(), Error> {
    let Some(queue) = queue else { return Ok(()) };
    let found = HasRecords::<Queue>::records(tx).find(queue).await?;
    found.filter(|queue| queue.router_id == *router).ok_or(Error::QueueUnknown)?;
    Ok(())
}
