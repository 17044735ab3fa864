//! Storage of tickets.

use async_trait::async_trait;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ChatId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::session::SessionId;
use flowsdk_core::time::Timestamp;

use super::{Ticket, TicketFilter};

/// Tickets of one transaction. Locks last until its end. Whoever locks several rows locks queues before sessions,
/// sessions before agents, and agents before tickets.
#[async_trait]
pub trait TicketRepository: Send {
    /// Returns a page of the tickets that pass the filter, newest first; of the routers in `only`, if it is given.
    async fn list(
        &mut self,
        filter: &TicketFilter,
        only: Option<&[RouterId]>,
        page: &PageRequest,
    ) -> Result<Page<Ticket>, StorageError>;

    /// Returns a ticket.
    async fn find(&mut self, id: &TicketId) -> Result<Option<Ticket>, StorageError>;

    /// Returns a ticket, locked.
    async fn find_for_update(&mut self, id: &TicketId) -> Result<Option<Ticket>, StorageError>;

    /// Stores new tickets.
    ///
    /// # Errors
    /// [`StorageError::Unique`] when a chat would have two open tickets, or a handoff two tickets.
    async fn insert_many(&mut self, tickets: &[Ticket]) -> Result<(), StorageError>;

    /// Rewrites what changes of tickets. They must be locked.
    async fn save_many(&mut self, tickets: &[Ticket]) -> Result<(), StorageError>;

    /// Rewrites who has tickets, and to whom they are offered: nothing else of them has changed. They must be locked.
    async fn save_holders(&mut self, tickets: &[Ticket]) -> Result<(), StorageError>;

    /// Returns the open tickets of these chats that people work, locked.
    async fn open_of_chats_for_update(&mut self, chats: &[ChatId]) -> Result<Vec<Ticket>, StorageError>;

    /// Returns those of these tickets that are there.
    async fn known(&mut self, ids: &[TicketId]) -> Result<Vec<TicketId>, StorageError>;

    /// Returns those of these tickets that AI agents have or had, and the open ones of these chats, locked.
    async fn of_agents_for_update(
        &mut self,
        ids: &[TicketId],
        chats: &[ChatId],
    ) -> Result<Vec<Ticket>, StorageError>;

    /// Returns the handoffs among those of these sessions that have a ticket: session and epoch of each.
    async fn known_handoffs(&mut self, sessions: &[SessionId])
    -> Result<Vec<(SessionId, i64)>, StorageError>;

    /// Returns up to `limit` sessions that people have, of which no handoff got a ticket or is stuck, and in which nothing
    /// has happened since `before`.
    async fn sessions_without(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<SessionId>, StorageError>;

    /// Notes when the contacts of these sessions wrote, in their open tickets. Returns the ticket and the user of each
    /// session whose ticket somebody has.
    async fn note_contact(
        &mut self,
        wrote: &[(SessionId, Timestamp)],
    ) -> Result<Vec<(SessionId, TicketId, UserId)>, StorageError>;

    /// Returns the closed tickets of these sessions whose survey waits for an answer, locked, as far as people still have the
    /// session because of them.
    async fn surveys_of_for_update(&mut self, sessions: &[SessionId]) -> Result<Vec<Ticket>, StorageError>;

    /// Returns up to `limit` tickets whose survey has waited for long enough, locked. Those that others have locked are left
    /// out.
    async fn claim_ended_surveys(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError>;

    /// Returns the tickets of these sessions that somebody has.
    async fn assigned_of(&mut self, sessions: &[SessionId]) -> Result<Vec<Ticket>, StorageError>;

    /// Returns how many tickets of a queue are open.
    async fn count_open_in(&mut self, queue: &QueueId) -> Result<i64, StorageError>;

    /// Returns the open tickets of a queue, locked.
    async fn open_in_for_update(&mut self, queue: &QueueId) -> Result<Vec<Ticket>, StorageError>;

    /// Returns how many open tickets each of these users has in the router beside them, with those that are offered to them.
    async fn loads(
        &mut self,
        agents: &[(RouterId, UserId)],
    ) -> Result<Vec<(RouterId, UserId, i64)>, StorageError>;

    /// Returns how many open tickets a user has in each router, with those that are offered to them; nothing of routers
    /// where they have none.
    async fn loads_of(&mut self, user: &UserId) -> Result<Vec<(RouterId, i64)>, StorageError>;

    /// Returns the oldest tickets that wait in each of these queues and are offered to nobody, locked: of each queue as many
    /// as stand beside it, the oldest first. A store that locks no single rows may return more. Those that others have
    /// locked are left out.
    async fn claim_waiting(&mut self, queues: &[(QueueId, u32)]) -> Result<Vec<Ticket>, StorageError>;

    /// Returns the tickets of a router that are offered to a user, locked.
    async fn offered_to_for_update(
        &mut self,
        router: &RouterId,
        user: &UserId,
    ) -> Result<Vec<Ticket>, StorageError>;

    /// Returns the oldest ticket that waits in the queues of a user, or in this one of them, and is offered to nobody, locked.
    /// The user must be locked as an agent of these routers, or of all. Queues in which they have as many tickets as they
    /// may, and tickets that others have locked, are left out.
    async fn claim_oldest_for(
        &mut self,
        user: &UserId,
        routers: Option<&[RouterId]>,
        queue: Option<&QueueId>,
    ) -> Result<Option<Ticket>, StorageError>;

    /// Locks the agents of these queues who are online at `now` and may serve contacts. Returns their users with their queues, in the order of the
    /// agents' ids.
    async fn lock_online_agents(
        &mut self,
        queues: &[QueueId],
        now: Timestamp,
    ) -> Result<Vec<(QueueId, UserId)>, StorageError>;

    /// Locks a user as an agent of these routers, or of all, in the order of the agents' ids. Returns the routers of which
    /// they are one.
    async fn lock_agent(
        &mut self,
        user: &UserId,
        routers: Option<&[RouterId]>,
    ) -> Result<Vec<RouterId>, StorageError>;

    /// Locks those of these users who are agents of the router beside them, and returns them. All are locked in the order of
    /// the agents' ids.
    async fn lock_agents(
        &mut self,
        users: &[(RouterId, UserId)],
    ) -> Result<Vec<(RouterId, UserId)>, StorageError>;

    /// Returns how many tickets wait in each of these queues, and since when the oldest does; nothing of empty ones.
    async fn waiting_in(
        &mut self,
        queues: &[QueueId],
    ) -> Result<Vec<(QueueId, i64, Timestamp)>, StorageError>;

    /// Returns how many tickets of each of these queues were taken from among the waiting ones since a time; nothing of
    /// queues without any.
    async fn taken_in(
        &mut self,
        queues: &[QueueId],
        since: Timestamp,
    ) -> Result<Vec<(QueueId, i64)>, StorageError>;

    /// Returns up to `limit` waiting tickets of whose wait their contact is to be told by the notice of their queue, locked.
    /// Those that others have locked are left out, and those whose contact wrote nothing since `active_since`.
    async fn claim_to_notify(
        &mut self,
        now: Timestamp,
        active_since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError>;

    /// Notes that the contacts of these tickets were told of their wait.
    async fn note_notified(&mut self, tickets: &[TicketId], now: Timestamp) -> Result<(), StorageError>;

    /// Returns the position of each of these tickets among those that wait in its queue, of which these are all queues. The
    /// oldest is 1.
    async fn positions(
        &mut self,
        queues: &[QueueId],
        tickets: &[TicketId],
    ) -> Result<Vec<(TicketId, i64)>, StorageError>;

    /// Returns the queues in which tickets wait that are not left to be picked up.
    async fn queues_to_distribute(&mut self) -> Result<Vec<QueueId>, StorageError>;

    /// Returns those of them in which a user works.
    async fn queues_to_distribute_to(&mut self, user: &UserId) -> Result<Vec<QueueId>, StorageError>;

    /// Returns up to `limit` waiting tickets whose contact has written nothing for as long as their queue allows, locked.
    /// Those that others have locked are left out.
    async fn claim_abandoned(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError>;

    /// Returns up to `limit` waiting tickets whose offer has ended, locked. Those that others have locked are left out.
    async fn claim_unanswered(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError>;

    /// Returns up to `limit` tickets of whose service level something is to be noted by `now`, locked. Those that others have
    /// locked are left out.
    async fn claim_overdue(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError>;

    /// Returns up to `limit` tickets of users who are no agents any more, or who were not at the desk for as long as the
    /// queue allows.
    async fn unattended(&mut self, now: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError>;

    /// Returns up to `limit` open tickets whose session is gone or has another owner, locked. Those that others have
    /// locked are left out, and those of AI agents in whose session something has happened after `quiet_since`.
    async fn claim_lost(&mut self, quiet_since: Timestamp, limit: u32) -> Result<Vec<Ticket>, StorageError>;
}

/// A transaction with tickets.
pub trait HasTickets: Send {
    /// Returns the repository of this transaction.
    fn tickets(&mut self) -> &mut dyn TicketRepository;
}
