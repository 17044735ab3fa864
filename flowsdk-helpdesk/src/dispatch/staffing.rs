//! Who works in queues at the moment, and what they are given.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::time::Timestamp;

use super::{Candidate, DispatchTx, Distribution};
use crate::queue::{DistributionStrategy, Queue};
use crate::ticket::{NotOpen, Ticket};

/// Most tickets of a queue that are given out in one transaction.
const AT_ONCE: u32 = 100;

/// Queues whose agents have room for tickets. The queues and the agents are locked.
#[derive(Debug, Default)]
pub(super) struct Staffing {
    /// In the order of their ids.
    queues: Vec<StaffedQueue>,
    /// How many open tickets agents have in a router, with those that they are given meanwhile.
    open: HashMap<(RouterId, UserId), u32>,
}

/// A queue with its agents.
#[derive(Debug)]
struct StaffedQueue {
    queue: Queue,
    /// Who of them is online, in the order of the agents' ids.
    users: Vec<UserId>,
    /// Who was given the ticket before, by turns.
    last: Option<UserId>,
}

/// What was given to agents.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) assigned: Vec<Ticket>,
    pub(super) offered: Vec<Ticket>,
    /// Who was given the last ticket of each queue that goes by turns.
    pub(super) by_turns: Vec<(QueueId, UserId)>,
    /// The queues in which more may wait.
    pub(super) unfinished: Vec<QueueId>,
}

impl Given {
    pub(super) fn is_empty(&self) -> bool {
        self.assigned.is_empty() && self.offered.is_empty()
    }
}

impl Staffing {
    /// Locks those of these queues that give their tickets to agents, then the agents who are online, and counts their
    /// tickets.
    pub(super) async fn read<T: DispatchTx>(
        tx: &mut T,
        queues: &[QueueId],
        now: Timestamp,
    ) -> Result<Self, StorageError> {
        let queues = tx.queues().lock_to_distribute(queues).await?;
        if queues.is_empty() {
            return Ok(Self::default());
        }
        let ids: Vec<QueueId> = queues.iter().map(|queue| queue.id.clone()).collect();
        let mut online: HashMap<QueueId, Vec<UserId>> = HashMap::new();
        for (queue, user) in tx.tickets().lock_online_agents(&ids, now).await? {
            online.entry(queue).or_default().push(user);
        }
        let staffed = queues.into_iter().filter_map(|queue| {
            let users = online.remove(&queue.id)?;
            Some(StaffedQueue { queue, users, last: None })
        });
        let mut staffing = Self { queues: staffed.collect(), open: HashMap::new() };
        staffing.read_loads(tx).await?;
        staffing.read_turns(tx).await?;
        Ok(staffing)
    }

    /// Counts the tickets of the agents, and leaves out queues in which nobody has room.
    async fn read_loads<T: DispatchTx>(&mut self, tx: &mut T) -> Result<(), StorageError> {
        let agents: BTreeSet<(RouterId, UserId)> =
            self.queues.iter().flat_map(StaffedQueue::agents).collect();
        if agents.is_empty() {
            return Ok(());
        }
        let agents: Vec<(RouterId, UserId)> = agents.into_iter().collect();
        let loads = tx.tickets().loads(&agents).await?;
        let open = |(router, user, open)| ((router, user), u32::try_from(open).unwrap_or(u32::MAX));
        self.open = loads.into_iter().map(open).collect();
        self.queues.retain(|queue| queue.distribution(&self.open).room() > 0);
        Ok(())
    }

    async fn read_turns<T: DispatchTx>(&mut self, tx: &mut T) -> Result<(), StorageError> {
        let by_turns = self.queues.iter().filter(|queue| queue.goes_by_turns());
        let ids: Vec<QueueId> = by_turns.map(|queue| queue.queue.id.clone()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut last: HashMap<QueueId, UserId> = tx.queues().last_given(&ids).await?.into_iter().collect();
        for queue in &mut self.queues {
            queue.last = last.remove(&queue.queue.id);
        }
        Ok(())
    }

    /// Returns the queues whose agents have room, each with how many of its tickets can be given out at once, at most.
    pub(super) fn most_at_once(&self) -> Vec<(QueueId, u32)> {
        // Those on whom everybody has passed must not hold up others behind them.
        let most = |queue: &StaffedQueue| match queue.queue.accept_within_seconds {
            Some(_) => AT_ONCE,
            None => queue.distribution(&self.open).room().min(AT_ONCE),
        };
        self.queues.iter().map(|queue| (queue.queue.id.clone(), most(queue))).collect()
    }

    /// Gives tickets that wait, the oldest of each queue first, to agents, or offers them. What an agent is given of one queue
    /// counts for those behind it.
    ///
    /// # Errors
    /// [`NotOpen`] when one of them does not wait.
    pub(super) fn give(&mut self, waiting: Vec<Ticket>, now: Timestamp) -> Result<Given, NotOpen> {
        let mut of_queue: HashMap<QueueId, Vec<Ticket>> = HashMap::new();
        for ticket in waiting {
            if let Some(queue) = ticket.queue_id.clone() {
                of_queue.entry(queue).or_default().push(ticket);
            }
        }
        let mut given = Given::default();
        for queue in &self.queues {
            let Some(tickets) = of_queue.remove(&queue.queue.id) else { continue };
            let tickets = queue.give(tickets, &mut self.open, now)?;
            let Some(last) = tickets.last().and_then(Ticket::addressee) else { continue };
            if queue.goes_by_turns() {
                given.by_turns.push((queue.queue.id.clone(), last.clone()));
            }
            if tickets.len() >= AT_ONCE as usize {
                given.unfinished.push(queue.queue.id.clone());
            }
            match queue.queue.accept_within_seconds {
                Some(_) => given.offered.extend(tickets),
                None => given.assigned.extend(tickets),
            }
        }
        Ok(given)
    }
}

impl StaffedQueue {
    fn agents(&self) -> impl Iterator<Item = (RouterId, UserId)> {
        self.users.iter().map(|user| (self.queue.router_id.clone(), user.clone()))
    }

    fn goes_by_turns(&self) -> bool {
        self.queue.distribution_strategy == DistributionStrategy::RoundRobin
    }

    fn distribution(&self, open: &HashMap<(RouterId, UserId), u32>) -> Distribution {
        let candidate = |agent: (RouterId, UserId)| Candidate {
            open: open.get(&agent).copied().unwrap_or(0),
            user: agent.1,
        };
        Distribution {
            strategy: self.queue.distribution_strategy,
            limit: self.queue.max_concurrent_tickets_per_agent,
            last: self.last.clone(),
            agents: self.agents().map(candidate).collect(),
        }
    }

    /// Gives tickets that wait in it, and returns those that somebody was given or offered.
    fn give(
        &self,
        tickets: Vec<Ticket>,
        open: &mut HashMap<(RouterId, UserId), u32>,
        now: Timestamp,
    ) -> Result<Vec<Ticket>, NotOpen> {
        let passed: Vec<Vec<UserId>> = tickets.iter().map(|ticket| ticket.passed_at(now)).collect();
        let users = self.distribution(open).of(passed.iter().map(Vec::as_slice));
        let to_users = tickets.into_iter().zip(users).filter_map(|(ticket, user)| Some((ticket, user?)));
        let mut given = Vec::new();
        for (mut ticket, user) in to_users {
            *open.entry((self.queue.router_id.clone(), user.clone())).or_default() += 1;
            match self.queue.accept_within_seconds {
                Some(seconds) => ticket.offer(user, now + Duration::from_secs(seconds.into()), now)?,
                None => ticket.assign(user, now)?,
            }
            given.push(ticket);
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::context::OpContext;
    use flowsdk_core::id::TicketId;
    use flowsdk_core::record::NewRecord as _;

    use super::*;
    use crate::queue::NewQueue;
    use crate::ticket::TicketStatus;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn staffed(id: &str, strategy: DistributionStrategy, limit: u32, users: &[&str]) -> StaffedQueue {
        let new = NewQueue {
            distribution_strategy: strategy,
            max_concurrent_tickets_per_agent: limit,
            ..NewQueue::named("r".parse().expect("an id"), id.parse().expect("a name"))
        };
        let queue = new.into_record(OpContext::system().ids(), NOW);
        let users = users.iter().map(|user| user.parse().expect("an id")).collect();
        StaffedQueue { queue: Queue { id: id.parse().expect("an id"), ..queue }, users, last: None }
    }

    fn waiting(queue: &str, count: u32) -> impl Iterator<Item = Ticket> {
        let ids = OpContext::system();
        let queue: QueueId = queue.parse().expect("an id");
        (0..count).map(move |_| {
            let of = ("chat".parse().expect("an id"), "contact".parse().expect("an id"));
            let router = "r".parse().expect("an id");
            Ticket::opened(TicketId::generate(ids.ids()), router, of, queue.clone(), NOW)
        })
    }

    #[test]
    fn what_an_agent_is_given_of_one_queue_counts_for_the_next() {
        let mut offers = staffed("q2", DistributionStrategy::RoundRobin, 3, &["ana", "bia", "eva"]);
        offers.queue.accept_within_seconds = Some(30);
        let queues = vec![
            staffed("q1", DistributionStrategy::RoundRobin, 3, &["ana", "bia"]),
            offers,
            staffed("q3", DistributionStrategy::LeastLoaded, 4, &["ana"]),
        ];
        let bia = ("r".parse().expect("an id"), "bia".parse().expect("an id"));
        let mut staffing = Staffing { queues, open: HashMap::from([(bia, 2)]) };
        // Others may stand behind those that all have passed on.
        let most = [("q1", 4), ("q2", AT_ONCE), ("q3", 4)];
        assert_eq!(staffing.most_at_once(), most.map(|(queue, most)| (queue.parse().expect("an id"), most)));
        let tickets = waiting("q1", 3).chain(waiting("q2", 9)).chain(waiting("q3", 2));
        let given = staffing.give(tickets.collect(), NOW).expect("they wait");
        let to = |tickets: &[Ticket]| -> Vec<(String, String)> {
            let to = |ticket: &Ticket| {
                (
                    ticket.queue_id.as_ref().expect("a queue").to_string(),
                    ticket.addressee().expect("somebody").to_string(),
                )
            };
            tickets.iter().map(to).collect()
        };
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(queue, user)| ((*queue).to_owned(), (*user).to_owned())).collect()
        };
        let assigned = [("q1", "ana"), ("q1", "bia"), ("q1", "ana"), ("q3", "ana")];
        assert_eq!(to(&given.assigned), pairs(&assigned));
        let offered = [("q2", "ana"), ("q2", "eva"), ("q2", "eva"), ("q2", "eva")];
        assert_eq!(to(&given.offered), pairs(&offered));
        assert!(given.offered.iter().all(|ticket| ticket.status == TicketStatus::Waiting));
        let by_turns = [("q1", "ana"), ("q2", "eva")];
        let by_turns = by_turns.map(|(queue, user)| {
            (queue.parse::<QueueId>().expect("an id"), user.parse::<UserId>().expect("an id"))
        });
        assert_eq!(given.by_turns, by_turns);
        assert_eq!(given.unfinished, []);
    }

    #[test]
    fn a_queue_of_which_as_many_were_given_as_at_once_may_have_more() {
        let queue = |id| staffed(id, DistributionStrategy::LeastLoaded, 2 * AT_ONCE, &["ana"]);
        let mut staffing = Staffing { queues: vec![queue("q1"), queue("q2")], open: HashMap::new() };
        let tickets = waiting("q1", AT_ONCE).chain(waiting("q2", AT_ONCE - 1));
        let given = staffing.give(tickets.collect(), NOW).expect("they wait");
        assert_eq!(given.unfinished, ["q1".parse().expect("an id")]);
        assert!(Staffing::default().give(Vec::new(), NOW).expect("none").is_empty());
    }
}
