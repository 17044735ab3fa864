//! The board.

use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use serde::Serialize;

use crate::agent::PresenceStatus;
use crate::ticket::{TicketStatus, TicketView};

/// Whose board is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardFilter {
    /// The router.
    pub router_id: RouterId,
    /// Tickets of this queue only.
    pub queue_id: Option<QueueId>,
    /// Tickets of this user only.
    pub assigned_user_id: Option<UserId>,
}

impl Reachable for BoardFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// How many tickets of people a queue and a user have in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct TicketCount {
    pub queue_id: QueueId,
    pub user_id: Option<UserId>,
    pub status: TicketStatus,
    pub count: i64,
}

impl TicketCount {
    fn passes(&self, filter: &BoardFilter) -> bool {
        filter.queue_id.as_ref().is_none_or(|queue| *queue == self.queue_id)
            && filter.assigned_user_id.as_ref().is_none_or(|user| Some(user) == self.user_id.as_ref())
    }
}

/// A ticket on a board.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BoardCard {
    /// The ticket.
    pub ticket: TicketView,
    /// The name of the contact.
    #[schema(example = "Maria Souza")]
    pub contact_name: String,
    /// The name of the queue; null when the queue is gone.
    #[schema(required = true)]
    pub queue_name: Option<String>,
    /// The name of the user who has the ticket, or had it last; null while it waits, and of users who are no agents any more.
    #[schema(required = true)]
    pub assigned_user_name: Option<String>,
}

/// The tickets in a state.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BoardColumn {
    /// The state.
    pub status: TicketStatus,
    /// How many there are.
    pub count: i64,
    /// The oldest of them; of closed ones those that were closed last. 50 at most.
    pub cards: Vec<BoardCard>,
}

/// A queue of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BoardQueue {
    /// The queue.
    pub queue_id: QueueId,
    /// Its name.
    #[schema(example = "Suporte")]
    pub name: String,
    /// Whether it takes tickets.
    pub is_active: bool,
    /// How many tickets wait in it.
    pub waiting: i64,
    /// How many of its tickets somebody has.
    pub assigned: i64,
}

/// An agent of a router.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BoardAgent {
    /// The user that they are.
    pub user_id: UserId,
    /// Their name.
    #[schema(example = "Ana")]
    pub name: String,
    /// Whether they are there now.
    pub presence: PresenceStatus,
    /// How many tickets of the router they have.
    pub assigned: i64,
}

/// The tickets of a router by their states, and its queues and agents with what they have.
#[derive(Debug, Clone, PartialEq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Board {
    /// Tickets that wait, that somebody has, and that were closed today. Closed ones that go on as another ticket do not count.
    pub columns: Vec<BoardColumn>,
    /// Every queue of the router, by name.
    pub queues: Vec<BoardQueue>,
    /// Every agent of the router, by name.
    pub agents: Vec<BoardAgent>,
}

/// To whom a ticket can be transferred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TransferTargets {
    /// The active queues of its router, by name.
    pub queues: Vec<BoardQueue>,
    /// The agents of its router, by name.
    pub agents: Vec<BoardAgent>,
}

/// Returns how many tickets in a state pass a filter.
pub(super) fn count(counts: &[TicketCount], filter: &BoardFilter, status: TicketStatus) -> i64 {
    let passing = counts.iter().filter(|one| one.status == status && one.passes(filter));
    passing.map(|one| one.count).sum()
}

/// Returns a queue with what it has.
pub(super) fn queue(
    (queue_id, name, is_active): (QueueId, String, bool),
    counts: &[TicketCount],
) -> BoardQueue {
    let of = |status: TicketStatus| {
        let its = counts.iter().filter(|one| one.status == status && one.queue_id == queue_id);
        its.map(|one| one.count).sum()
    };
    let (waiting, assigned) = (of(TicketStatus::Waiting), of(TicketStatus::Assigned));
    BoardQueue { queue_id, name, is_active, waiting, assigned }
}

/// Returns how many tickets a user has.
pub(super) fn load(user: &UserId, counts: &[TicketCount]) -> i64 {
    let theirs =
        |one: &&TicketCount| one.status == TicketStatus::Assigned && one.user_id.as_ref() == Some(user);
    counts.iter().filter(theirs).map(|one| one.count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(queue: &str, user: Option<&str>, status: TicketStatus, count: i64) -> TicketCount {
        let user_id = user.map(|user| user.parse().expect("an id"));
        TicketCount { queue_id: queue.parse().expect("an id"), user_id, status, count }
    }

    fn all() -> [TicketCount; 5] {
        use TicketStatus::{Assigned, Closed, Waiting};
        [
            counted("q1", None, Waiting, 5),
            counted("q2", None, Waiting, 7),
            counted("q1", Some("ana"), Assigned, 2),
            counted("q2", Some("ana"), Assigned, 3),
            counted("q2", Some("bia"), Closed, 11),
        ]
    }

    #[test]
    fn columns_count_what_passes() {
        use TicketStatus::{Assigned, Closed, Waiting};
        let counts = |queue: Option<&str>, user: Option<&str>| {
            let filter = BoardFilter {
                router_id: "r1".parse().expect("an id"),
                queue_id: queue.map(|id| id.parse().expect("an id")),
                assigned_user_id: user.map(|id| id.parse().expect("an id")),
            };
            [Waiting, Assigned, Closed].map(|status| count(&all(), &filter, status))
        };
        assert_eq!(counts(None, None), [12, 5, 11]);
        assert_eq!(counts(Some("q1"), None), [5, 2, 0]);
        assert_eq!(counts(None, Some("ana")), [0, 5, 0]);
        assert_eq!(counts(Some("q2"), Some("bia")), [0, 0, 11]);
        assert_eq!(counts(Some("q3"), None), [0, 0, 0]);
    }

    #[test]
    fn queues_and_agents_have_their_own() {
        let found = queue(("q2".parse().expect("an id"), "Vendas".to_owned(), false), &all());
        assert_eq!((found.waiting, found.assigned, found.is_active), (7, 3, false));
        for (user, expected) in [("ana", 5), ("bia", 0), ("eva", 0)] {
            assert_eq!(load(&user.parse().expect("an id"), &all()), expected, "{user}");
        }
    }
}
