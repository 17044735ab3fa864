//! Who is given the next tickets of a queue, as a function of who is there.

use flowsdk_core::id::UserId;
use rand::seq::IndexedRandom as _;

use crate::queue::DistributionStrategy;

/// An agent who is online.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Their user.
    pub user: UserId,
    /// How many open tickets they have.
    pub open: u32,
}

/// The agents of a queue and its rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    /// How its tickets get to its agents.
    pub strategy: DistributionStrategy,
    /// Most open tickets of an agent.
    pub limit: u32,
    /// Who was given the ticket before, by turns.
    pub last: Option<UserId>,
    /// Who is online, in a stable order.
    pub agents: Vec<Candidate>,
}

impl Distribution {
    /// Returns who gets each of the next tickets, in their order. Each is named by the users who do not get it. `None` is
    /// a ticket for which nobody has room.
    pub fn of<'a>(mut self, tickets: impl IntoIterator<Item = &'a [UserId]>) -> Vec<Option<UserId>> {
        let give = |not_to: &[UserId]| {
            let agent = self.next(not_to).and_then(|at| self.agents.get_mut(at))?;
            agent.open += 1;
            self.last = Some(agent.user.clone());
            Some(agent.user.clone())
        };
        tickets.into_iter().map(give).collect()
    }

    /// Returns for how many more tickets its agents have room.
    pub fn room(&self) -> u32 {
        self.agents.iter().map(|agent| self.limit.saturating_sub(agent.open)).sum()
    }

    /// Returns the place of the agent who is next, none of `not_to`.
    fn next(&self, not_to: &[UserId]) -> Option<usize> {
        let has_room = |at: &usize| {
            let may = |agent: &Candidate| agent.open < self.limit && !not_to.contains(&agent.user);
            self.agents.get(*at).is_some_and(may)
        };
        match self.strategy {
            DistributionStrategy::ManualPickup => None,
            DistributionStrategy::LeastLoaded => {
                let open = |at: &usize| self.agents.get(*at).map(|agent| agent.open);
                let free: Vec<usize> = (0..self.agents.len()).filter(has_room).collect();
                let least = free.iter().filter_map(open).min()?;
                let least: Vec<usize> = free.into_iter().filter(|at| open(at) == Some(least)).collect();
                least.choose(&mut rand::rng()).copied()
            }
            DistributionStrategy::RoundRobin => {
                let before = self.agents.iter().position(|agent| Some(&agent.user) == self.last.as_ref());
                let first = before.map_or(0, |at| at + 1);
                (first..self.agents.len()).chain(0..first).find(has_room)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agents(open: &[u32]) -> Vec<Candidate> {
        let agent = |(at, open): (usize, &u32)| Candidate {
            user: format!("u{at}").parse().expect("an id"),
            open: *open,
        };
        open.iter().enumerate().map(agent).collect()
    }

    fn given(
        strategy: DistributionStrategy,
        limit: u32,
        last: Option<&str>,
        open: &[u32],
        tickets: usize,
    ) -> Vec<String> {
        let last = last.map(|user| user.parse().expect("an id"));
        let distribution = Distribution { strategy, limit, last, agents: agents(open) };
        let given = distribution.of(vec![&[][..]; tickets]);
        given.iter().flatten().map(ToString::to_string).collect()
    }

    #[test]
    fn a_ticket_goes_to_nobody_who_has_passed_on_it() {
        let id = |user: &str| -> UserId { user.parse().expect("an id") };
        let passed = [vec![id("u0")], vec![], vec![id("u0"), id("u1")], vec![id("u1")]];
        for strategy in [DistributionStrategy::LeastLoaded, DistributionStrategy::RoundRobin] {
            let distribution = Distribution { strategy, limit: 2, last: None, agents: agents(&[0, 0]) };
            let given = distribution.of(passed.iter().map(Vec::as_slice));
            let given: Vec<Option<&str>> =
                given.iter().map(|user| user.as_ref().map(UserId::as_str)).collect();
            assert_eq!(given, [Some("u1"), Some("u0"), None, Some("u0")], "{strategy:?}");
        }
    }

    #[test]
    fn each_strategy_does_what_it_says() {
        use DistributionStrategy::{LeastLoaded, ManualPickup, RoundRobin};
        assert_eq!(given(ManualPickup, 5, None, &[0, 0], 2), [""; 0]);
        assert_eq!(given(LeastLoaded, 5, None, &[3, 0, 2], 2), ["u1", "u1"]);
        assert_eq!(given(RoundRobin, 5, None, &[4, 0, 0], 4), ["u0", "u1", "u2", "u1"]);
        assert_eq!(given(RoundRobin, 5, Some("u1"), &[0, 0, 0], 4), ["u2", "u0", "u1", "u2"]);
        assert_eq!(given(RoundRobin, 5, Some("gone"), &[0, 0], 1), ["u0"], "who was last is not there");
        assert_eq!(given(LeastLoaded, 1, None, &[1, 1], 1), [""; 0], "nobody has room");
        assert_eq!(given(RoundRobin, 2, None, &[1, 2], 5), ["u0"], "no more than the limit");
        assert_eq!(given(LeastLoaded, 5, None, &[], 5), [""; 0]);
    }

    #[test]
    fn among_the_least_loaded_any_is_next() {
        let firsts: std::collections::BTreeSet<String> = (0..200)
            .map(|_| given(DistributionStrategy::LeastLoaded, 5, None, &[1, 0, 0], 1)[0].clone())
            .collect();
        assert_eq!(firsts.into_iter().collect::<Vec<_>>(), ["u1", "u2"]);
    }

    proptest! {
        /// Nobody gets beyond the limit, and no ticket waits while somebody has room.
        #[test]
        fn tickets_and_room_never_remain_together(
            open in prop::collection::vec(0_u32..8, 0..8),
            limit in 1_u32..8,
            tickets in 0_usize..40,
            by_turns: bool,
        ) {
            let strategy =
                if by_turns { DistributionStrategy::RoundRobin } else { DistributionStrategy::LeastLoaded };
            let given = given(strategy, limit, None, &open, tickets);
            let room: u32 = open.iter().map(|open| limit.saturating_sub(*open)).sum();
            prop_assert_eq!(given.len(), tickets.min(room as usize));
            for (at, open) in open.iter().enumerate() {
                let got = given.iter().filter(|user| **user == format!("u{at}")).count();
                prop_assert!(got == 0 || *open as usize + got <= limit as usize);
            }
        }
    }
}
