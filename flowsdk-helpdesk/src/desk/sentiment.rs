//! How the contact of a ticket feels.

use flowsdk_core::event::{SentimentResult, WebhookEventType};
use flowsdk_core::id::TicketId;
use flowsdk_core::store::{Store, transact};

use super::steps::tell;
use super::{By, Desk, DeskTx};
use crate::news::News;
use crate::ticket::{HasTickets as _, Ticket, TicketError as Error, find_within, stored};

impl<S: Store> Desk<S>
where
    S::Tx: DeskTx,
{
    /// Notes how the contact of an open ticket feels, as the caller had it judged, and tells whoever has the ticket.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Closed`], [`Error::Storage`].
    pub async fn note_sentiment(
        &self,
        by: By<'_>,
        id: &TicketId,
        judged: &SentimentResult,
    ) -> Result<Ticket, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            find_within(tx, by.reach, id).await?;
            let before = tx.tickets().find_for_update(id).await?.ok_or(Error::NotFound)?;
            let (mut after, now) = (before.clone(), self.cx.now());
            after.note_sentiment(judged.clone(), now)?;
            stored::save(tx, &self.cx, WebhookEventType::TicketUpdated, std::slice::from_ref(&after)).await?;
            tell(tx, News::of_sentiment(&after).into_iter(), now).await?;
            Ok((before, after))
        })
        .await?;
        self.changes.updated(by.author, &before, &after);
        Ok(after)
    }
}
