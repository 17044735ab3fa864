//! Finding a ticket for a caller.

use flowsdk_core::id::TicketId;
use flowsdk_core::router::Reach;

use super::{HasTickets, Ticket, TicketError};

/// Returns a ticket within the caller's reach, not locked.
///
/// # Errors
/// [`TicketError::NotFound`], [`TicketError::Storage`].
pub(crate) async fn find_within<T: HasTickets>(
    tx: &mut T,
    reach: Reach<'_>,
    id: &TicketId,
) -> Result<Ticket, TicketError> {
    let found = tx.tickets().find(id).await?;
    found.filter(|ticket| reach.contains(&ticket.router_id)).ok_or(TicketError::NotFound)
}
