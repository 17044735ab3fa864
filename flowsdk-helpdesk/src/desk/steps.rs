//! Steps of the use cases inside their transaction.

use flowsdk_core::context::OpContext;
use flowsdk_core::event::{JumpTarget, WebhookEventType};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::session::{HasSessions, Mode, Session};
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::HasOutbox;
use flowsdk_core::stream::topic::{Flow, Summary};
use flowsdk_core::time::Timestamp;

use crate::intake::point;
use crate::news::{DeskEvent, HasNews, News};
use crate::ticket::{Closing, HasTickets, ServiceClocks, Ticket, TicketError, TransferTarget, stored};

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

/// Locks the session of a ticket.
pub(crate) async fn lock_session<T: HasSessions>(
    tx: &mut T,
    ticket: &Ticket,
) -> Result<Option<Session>, StorageError> {
    let Some(id) = &ticket.session_id else { return Ok(None) };
    let found = tx.sessions().find_many_for_update(std::slice::from_ref(id)).await?;
    Ok(found.into_iter().next().map(|stored| stored.session))
}

/// Returns whether people have the session because of this ticket (rulings S14).
pub(crate) fn is_with(session: &Session, ticket: &Ticket) -> bool {
    session.mode == Mode::Human && ticket.epoch.is_none_or(|epoch| epoch == session.epoch)
}

/// A ticket that was transferred, and the one with which it goes on.
pub(crate) struct Moved {
    pub(crate) closed: Ticket,
    pub(crate) next: Ticket,
}

/// Transfers a ticket, which is locked as is its session, and tells whoever had it and whoever gets it: the last step of
/// a transaction. `service` has the clocks of the queue to which it goes, where that is another one.
pub(crate) async fn transfer<T: HasTickets + HasSessions + HasOutbox + HasNews>(
    tx: &mut T,
    cx: &OpContext,
    (session, ticket): (Option<Session>, Ticket),
    to: &TransferTarget,
    by: Option<&UserId>,
    service: Option<ServiceClocks>,
) -> Result<Moved, TicketError> {
    let now = cx.now();
    let mut closed = ticket;
    let mut next = closed.transfer(to, by.cloned(), cx.ids(), now)?;
    if next.queue_id != closed.queue_id {
        next.start_service(service);
    }
    stored::save(tx, cx, WebhookEventType::TicketClosed, std::slice::from_ref(&closed)).await?;
    stored::insert(tx, cx, std::slice::from_ref(&next)).await?;
    if let Some(session) = session.filter(|session| is_with(session, &closed)) {
        point(tx, vec![(session, next.id.clone())]).await?;
    }
    let had = closed.addressee();
    let gone =
        had.map(|user| News::new(user, DeskEvent::Transferred(Box::new(closed.clone()), next.id.clone())));
    tell(tx, gone.into_iter().chain(News::of_assignment(&next)), now).await?;
    Ok(Moved { closed, next })
}

/// Ends the offers of waiting tickets, which are locked, and tells whoever had them: the last step of a transaction. Returns
/// those that were offered to somebody.
pub(crate) async fn end_offers<T: HasTickets + HasOutbox + HasNews>(
    tx: &mut T,
    cx: &OpContext,
    tickets: Vec<Ticket>,
) -> Result<Vec<Ticket>, StorageError> {
    let now = cx.now();
    let passed = tickets.into_iter().filter_map(|mut ticket| Some((ticket.pass(now).ok()?, ticket)));
    let (users, tickets): (Vec<UserId>, Vec<Ticket>) = passed.unzip();
    if !tickets.is_empty() {
        stored::save_holders(tx, cx, WebhookEventType::TicketUpdated, &tickets).await?;
        let news = users.iter().zip(&tickets).map(|(user, ticket)| News::of_offer_end(user, ticket));
        tell(tx, news, now).await?;
    }
    Ok(tickets)
}

/// Closes open tickets, which are locked, gives their sessions back, and tells whoever had them: the last step of a
/// transaction.
pub(crate) async fn close_all<T: HasTickets + HasOutbox + HasNews>(
    tx: &mut T,
    mut tickets: Vec<Ticket>,
    closing: &Closing,
    cx: &OpContext,
) -> Result<Vec<Ticket>, StorageError> {
    let now = cx.now();
    tickets.retain_mut(|ticket| ticket.close(closing, now).is_ok());
    if !tickets.is_empty() {
        stored::save(tx, cx, WebhookEventType::TicketClosed, &tickets).await?;
        publish_endings(tx, &tickets, closing.jump_target.as_ref()).await?;
        tell(tx, tickets.iter().filter_map(News::of_end), now).await?;
    }
    Ok(tickets)
}
