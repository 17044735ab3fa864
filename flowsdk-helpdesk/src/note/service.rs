//! The use cases of notes.

use std::collections::BTreeSet;
use std::sync::Arc;

use flowsdk_core::context::OpContext;
use flowsdk_core::id::{TicketId, UserId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::Reach;
use flowsdk_core::store::Store;

use super::{HasNotes, NewNote, Note, NoteId, NoteView};
use crate::desk::By;
use crate::desk::steps::tell;
use crate::news::{DeskEvent, HasNews, News};
use crate::ticket::{HasTickets, Ticket, TicketError as Error, find_within};

/// Writes notes on tickets, and shows those of a conversation.
#[derive(Debug)]
pub struct Notes<S> {
    store: Arc<S>,
    cx: OpContext,
}

impl<S: Store> Notes<S>
where
    S::Tx: HasNotes + HasTickets + HasNews + HasIdempotency,
{
    /// Creates the service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext) -> Self {
        Self { store, cx }
    }

    /// Returns a page of the notes on the conversation of a ticket, whichever ticket of the chain they were written on, newest
    /// first.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        ticket: &TicketId,
        page: &PageRequest,
    ) -> Result<Page<Note>, Error> {
        let mut tx = self.store.read().await?;
        let ticket = find_within(&mut tx, reach, ticket).await?;
        Ok(tx.notes().of_chat(&ticket.chat_id, page).await?)
    }

    /// Writes a note, once for each idempotency key, and tells whoever has the ticket and whoever is mentioned.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::MentionUnknown`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        by: By<'_>,
        ticket: &TicketId,
        new: NewNote,
        once: Option<Once<NoteView>>,
    ) -> Result<Outcome<NoteView>, Error> {
        let author = by.user.ok_or(Error::AssignedToAnother)?;
        let now = self.cx.now();
        perform_once(&*self.store, once, now, async |tx: &mut S::Tx| -> Result<NoteView, Error> {
            let ticket = find_within(tx, by.reach, ticket).await?;
            let mentioned: BTreeSet<UserId> = new.mentioned_user_ids.into_iter().collect();
            let mentioned: Vec<UserId> = mentioned.into_iter().collect();
            let is_known = mentioned.is_empty()
                || tx.notes().agents_among(&ticket.router_id, &mentioned).await?.len() == mentioned.len();
            if !is_known {
                return Err(Error::MentionUnknown);
            }
            let note = Note {
                id: NoteId::generate(self.cx.ids()),
                router_id: ticket.router_id.clone(),
                chat_id: ticket.chat_id.clone(),
                ticket_id: ticket.id.clone(),
                author_user_id: author.clone(),
                text: new.text,
                mentioned_user_ids: mentioned,
                created_at: now,
            };
            tx.notes().insert(&note).await?;
            tell(tx, news(&ticket, &note).into_iter(), now).await?;
            Ok(NoteView::from(note))
        })
        .await
    }
}

/// Returns the news of a note, for everybody but its author.
fn news(ticket: &Ticket, note: &Note) -> Vec<News> {
    let has = ticket.assigned_user_id.iter().filter(|_| ticket.is_open());
    let told: BTreeSet<&UserId> = note.mentioned_user_ids.iter().chain(has).collect();
    let others = told.into_iter().filter(|user| **user != note.author_user_id);
    others.map(|user| News::new(user, DeskEvent::Note(NoteView::from(note.clone())))).collect()
}
