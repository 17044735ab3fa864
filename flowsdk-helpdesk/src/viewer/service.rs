//! The use cases of looks.

use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::Handover;
use flowsdk_core::event::{Notice, NoticeKind};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{TicketId, UserId};
use flowsdk_core::message::SenderKind;
use flowsdk_core::router::Reach;
use flowsdk_core::session::Channel;
use flowsdk_core::store::{Store, Transaction as _, transact};
use flowsdk_core::stream::outbox::HasOutbox;

use super::{HasViewers, Look, TYPING_LASTS, VIEW_LIFETIME, Viewer};
use crate::ticket::{HasTickets, Ticket, TicketError as Error, find_within};

/// Notes who looks at tickets and who types, and shows it to the others.
#[derive(Debug)]
pub struct Viewers<S> {
    store: Arc<S>,
    cx: OpContext,
    handover: Handover,
}

impl<S: Store> Viewers<S>
where
    S::Tx: HasViewers + HasTickets + HasOutbox,
{
    /// Creates the service over `store`: it tells visitors by `handover` that somebody types.
    pub fn new(store: Arc<S>, cx: OpContext, handover: Handover) -> Self {
        Self { store, cx, handover }
    }

    /// Lets a desk look at a ticket, and at no other. It holds for [`VIEW_LIFETIME`] unless it is renewed.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn look(
        &self,
        desk: &str,
        user: &UserId,
        reach: Reach<'_>,
        ticket: &TicketId,
    ) -> Result<Ticket, Error> {
        transact(&*self.store, async |tx: &mut S::Tx| self.note(tx, desk, user, reach, ticket, false).await)
            .await
    }

    /// Notes that the user at a desk writes an answer, for [`TYPING_LASTS`]. Whoever has the ticket is shown typing to a visitor
    /// of the web chat.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn typing(
        &self,
        desk: &str,
        user: &UserId,
        reach: Reach<'_>,
        ticket: &TicketId,
    ) -> Result<Ticket, Error> {
        let (ticket, notice) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let ticket = self.note(tx, desk, user, reach, ticket, true).await?;
            let notice = self.notice(&ticket, user);
            if let Some(entry) = notice.as_ref().and_then(|notice| self.handover.entry(notice)) {
                tx.outbox().push_many(&[entry]).await?;
            }
            Ok((ticket, notice))
        })
        .await?;
        if let Some(notice) = notice {
            self.handover.pass_on(notice);
        }
        Ok(ticket)
    }

    async fn note(
        &self,
        tx: &mut S::Tx,
        desk: &str,
        user: &UserId,
        reach: Reach<'_>,
        ticket: &TicketId,
        is_typing: bool,
    ) -> Result<Ticket, Error> {
        let ticket = find_within(tx, reach, ticket).await?;
        let now = self.cx.now();
        let look = Look {
            desk: desk.to_owned(),
            ticket_id: ticket.id.clone(),
            user_id: user.clone(),
            until: now + VIEW_LIFETIME,
            typing_until: is_typing.then(|| now + TYPING_LASTS),
        };
        tx.viewers().look(&look).await?;
        Ok(ticket)
    }

    /// Returns what the visitor of a ticket is told of a user who types.
    fn notice(&self, ticket: &Ticket, user: &UserId) -> Option<Notice> {
        let has_it = ticket.is_open() && ticket.assigned_user_id.as_ref() == Some(user);
        let session_id = ticket.session_id.clone().filter(|id| has_it && id.channel() == Channel::Webchat)?;
        let now = self.cx.now();
        let kind = NoticeKind::typing(SenderKind::Human, now, now + TYPING_LASTS);
        Some(Notice { session_id, timestamp: now, kind })
    }

    /// Lets a desk look at nothing.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn look_away(&self, desk: &str) -> Result<(), StorageError> {
        let mut tx = self.store.begin().await?;
        tx.viewers().look_away(desk).await?;
        tx.commit().await
    }

    /// Lets the looks of these desks hold for another [`VIEW_LIFETIME`], and forgets those of desks that are gone.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn renew(&self, desks: &[String]) -> Result<(), StorageError> {
        let now = self.cx.now();
        let mut tx = self.store.begin().await?;
        tx.viewers().renew(desks, now + VIEW_LIFETIME).await?;
        tx.viewers().purge(now).await?;
        tx.commit().await
    }

    /// Returns the users who look at these tickets now.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn of(&self, tickets: &[TicketId]) -> Result<Vec<Viewer>, StorageError> {
        self.store.read().await?.viewers().viewers(tickets, self.cx.now()).await
    }
}
