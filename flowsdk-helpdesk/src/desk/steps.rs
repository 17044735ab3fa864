//! Steps of the use cases inside their transaction.

use flowsdk_core::event::JumpTarget;
use flowsdk_core::fault::StorageError;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::{Flow, Summary};
use flowsdk_core::time::Timestamp;

use crate::news::{HasNews, News};
use crate::ticket::{Closing, HasTickets, Ticket};

/// Publishes what follows from the end of tickets: their sessions go on with the flow, and a summary is asked for.
pub(crate) async fn publish_endings<T: HasOutbox>(
    tx: &mut T,
    closed: &[Ticket],
    jump_target: Option<&JumpTarget>,
) -> Result<(), StorageError> {
    let mut entries = Vec::new();
    for ticket in closed {
        entries.extend(ticket.hand_back(jump_target.cloned()).map(|event| NewEntry::of::<Flow>(&event)));
        entries.extend(ticket.summary_request().map(|request| NewEntry::of::<Summary>(&request)));
    }
    if entries.is_empty() { Ok(()) } else { tx.outbox().push_many(&entries).await }
}

/// Tells users news: once a transaction, as its last step.
pub(crate) async fn tell<T: HasNews>(
    tx: &mut T,
    news: impl Iterator<Item = News>,
    now: Timestamp,
) -> Result<(), StorageError> {
    let news: Vec<News> = news.collect();
    if news.is_empty() { Ok(()) } else { tx.news().append(&news, now).await }
}

/// Closes open tickets, which are locked, gives their sessions back, and tells whoever had them: the last step of a
/// transaction.
pub(crate) async fn close_all<T: HasTickets + HasOutbox + HasNews>(
    tx: &mut T,
    mut tickets: Vec<Ticket>,
    closing: &Closing,
    now: Timestamp,
) -> Result<Vec<Ticket>, StorageError> {
    tickets.retain_mut(|ticket| ticket.close(closing, now).is_ok());
    if !tickets.is_empty() {
        tx.tickets().save_many(&tickets).await?;
        publish_endings(tx, &tickets, closing.jump_target.as_ref()).await?;
        tell(tx, tickets.iter().filter_map(News::of_end), now).await?;
    }
    Ok(tickets)
}
