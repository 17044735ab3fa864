//! The lanes that may run now, by class and party.

use std::collections::{HashMap, VecDeque};

use super::turn::{CLASSES, Class, Party};

/// A class that waited while so many lanes of other classes were handed out comes next.
pub(super) const SHARE: u32 = 16;

/// A place in the queue of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) class: Class,
    number: u64,
}

/// The most urgent class comes first, and the others have a guaranteed share. Within a class parties take turns, and
/// the lanes of a party are first in, first out.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queues: [Queue; CLASSES],
    /// How many lanes of more urgent classes were handed out while a lane of this class was ready.
    passed: [u32; CLASSES],
    issued: u64,
}

/// The ready lanes of a class.
#[derive(Debug, Default)]
struct Queue {
    /// The lanes of each party that has some.
    lanes: HashMap<Party, VecDeque<(String, Ticket)>>,
    /// The parties of `lanes`, the next in front.
    turns: VecDeque<Party>,
    /// Tickets that were not withdrawn.
    valid: usize,
}

impl Queue {
    fn push(&mut self, key: String, party: Party, ticket: Ticket) {
        let lanes = self.lanes.entry(party).or_default();
        if lanes.is_empty() {
            self.turns.push_back(party);
        }
        lanes.push_back((key, ticket));
        self.valid += 1;
    }

    /// Takes the oldest lane of the next admitted party that still holds its ticket.
    fn pop(
        &mut self,
        holds: impl Fn(&str, Ticket) -> bool,
        admits: impl Fn(Party) -> bool,
    ) -> Option<String> {
        let mut place = 0;
        while let Some(&party) = self.turns.get(place) {
            if !admits(party) {
                place += 1;
                continue;
            }
            self.turns.remove(place);
            let Some(lanes) = self.lanes.get_mut(&party) else { continue };
            let next = std::iter::from_fn(|| lanes.pop_front()).find(|(key, ticket)| holds(key, *ticket));
            if lanes.is_empty() {
                self.lanes.remove(&party);
            } else {
                self.turns.push_back(party);
            }
            if let Some((key, _)) = next {
                self.valid -= 1;
                return Some(key);
            }
        }
        None
    }
}

impl Ready {
    /// Puts a lane at the end of its party's part of the queue of `class`.
    pub(super) fn push(&mut self, key: String, class: Class, party: Party) -> Ticket {
        self.issued += 1;
        let ticket = Ticket { class, number: self.issued };
        self.queues[class.index()].push(key, party, ticket);
        ticket
    }

    /// Takes back a ticket that was not popped. The caller must treat the ticket as void from now on.
    pub(super) fn withdraw(&mut self, ticket: Ticket) {
        let class = ticket.class.index();
        let queue = &mut self.queues[class];
        queue.valid -= 1;
        if queue.valid == 0 {
            // Only withdrawn tickets are left.
            *queue = Queue::default();
            self.passed[class] = 0;
        }
    }

    /// Returns the number of lanes that are ready.
    pub(super) fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.valid).sum()
    }

    /// Takes the next lane of a party that `admits` lets pass. `holds` says whether a lane still holds a ticket, that
    /// is, did not withdraw it.
    pub(super) fn pop(
        &mut self,
        holds: impl Fn(&str, Ticket) -> bool,
        admits: impl Fn(Party) -> bool,
    ) -> Option<String> {
        let next = self.classes().into_iter().find_map(|class| {
            let key = self.queues[class].pop(&holds, &admits)?;
            Some((class, key))
        });
        let (class, key) = next?;
        self.passed[class] = 0;
        for lower in class + 1..CLASSES {
            if self.queues[lower].valid > 0 {
                self.passed[lower] += 1;
            }
        }
        Some(key)
    }

    /// Returns the classes in the order in which they come next: one that has waited for long, then by urgency.
    fn classes(&self) -> [usize; CLASSES] {
        let mut classes = std::array::from_fn(|class| class);
        let overdue = |class: &usize| self.queues[*class].valid > 0 && self.passed[*class] >= SHARE;
        if let Some(class) = (0..CLASSES).rev().find(overdue) {
            classes[..=class].rotate_right(1);
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    const ANY: Party = Party::NOBODY;

    proptest! {
        /// A lane of any class comes within its place in the queue times a constant, whatever else is ready.
        #[test]
        fn no_class_starves(
            crowd in proptest::collection::vec(0..CLASSES as u8, 1..20),
            class in 0..CLASSES as u8,
            ahead in 0..5_usize,
        ) {
            let mut ready = Ready::default();
            for n in 0..ahead {
                ready.push(format!("ahead {n}"), Class::new(class), ANY);
            }
            ready.push("it".to_owned(), Class::new(class), ANY);
            for (n, &class) in crowd.iter().enumerate() {
                ready.push(format!("crowd {n}"), Class::new(class), ANY);
            }
            let bound = (ahead + 1) * (SHARE as usize + 2 * CLASSES);
            let mut waited = 0;
            loop {
                let key = ready.pop(|_, _| true, |_| true).expect("ready");
                if key == "it" {
                    break;
                }
                // Each lane of the crowd is ready again at once.
                if let Some(n) = key.strip_prefix("crowd ") {
                    let class = crowd[n.parse::<usize>().expect("a number")];
                    ready.push(key, Class::new(class), ANY);
                }
                waited += 1;
                prop_assert!(waited <= bound, "waited for {} others", waited);
            }
        }

        /// However many lanes another party has, a lane waits for one of it, and one more for each lane of its own
        /// party before it.
        #[test]
        fn parties_take_turns(crowd in 1..50_usize, own in 1..10_usize, voids in 0..10_usize) {
            let mut ready = Ready::default();
            let mut void = Vec::new();
            for n in 0..crowd {
                ready.push(format!("crowd {n}"), Class::LIVE, Party::of("crowd"));
            }
            for n in 0..voids {
                void.push(ready.push(format!("void {n}"), Class::LIVE, Party::of("other")));
            }
            for n in 0..own {
                ready.push(format!("own {n}"), Class::LIVE, Party::of("other"));
            }
            void.iter().for_each(|ticket| ready.withdraw(*ticket));
            let mut next = || ready.pop(|_, ticket| !void.contains(&ticket), |_| true);
            for n in 0..own {
                if n < crowd {
                    prop_assert_eq!(next(), Some(format!("crowd {n}")));
                }
                prop_assert_eq!(next(), Some(format!("own {n}")));
            }
            for n in own..crowd {
                prop_assert_eq!(next(), Some(format!("crowd {n}")));
            }
            prop_assert_eq!(next(), None);
        }

        /// Before its share is due, a lower class waits for every higher one.
        #[test]
        fn a_higher_class_comes_first(lower in 1..20_usize, higher in 1..SHARE as usize) {
            let mut ready = Ready::default();
            for n in 0..lower {
                ready.push(format!("lower {n}"), Class::CAMPAIGN, ANY);
            }
            for n in 0..higher {
                ready.push(format!("higher {n}"), Class::LIVE, ANY);
            }
            for n in 0..higher {
                let expected = format!("higher {n}");
                prop_assert_eq!(ready.pop(|_, _| true, |_| true), Some(expected));
            }
            for n in 0..lower {
                let expected = format!("lower {n}");
                prop_assert_eq!(ready.pop(|_, _| true, |_| true), Some(expected));
            }
            prop_assert_eq!(ready.len(), 0);
        }
    }

    #[test]
    fn parties_that_are_not_admitted_keep_their_turn() {
        let (a, b) = (Party::of("a"), Party::of("b"));
        let mut ready = Ready::default();
        for (key, class, party) in [
            ("a1", Class::LIVE, a),
            ("a2", Class::LIVE, a),
            ("b1", Class::LIVE, b),
            ("b2", Class::CAMPAIGN, b),
        ] {
            ready.push(key.to_owned(), class, party);
        }
        let mut next = |admitted: &[Party]| ready.pop(|_, _| true, |party| admitted.contains(&party));
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[b]).as_deref(), Some("b1"));
        assert_eq!(next(&[b]).as_deref(), Some("b2"), "another class is looked at too");
        assert_eq!(next(&[b]), None);
        assert_eq!((next(&[a]).as_deref(), next(&[a, b]).as_deref()), (Some("a1"), Some("a2")));
    }

    #[test]
    fn a_withdrawn_ticket_is_passed_over_and_takes_no_room() {
        let mut ready = Ready::default();
        let void = ready.push("a".to_owned(), Class::CAMPAIGN, ANY);
        ready.push("b".to_owned(), Class::CAMPAIGN, ANY);
        ready.withdraw(void);
        assert_eq!(ready.len(), 1);
        assert_eq!(ready.pop(|_, ticket| ticket != void, |_| true).as_deref(), Some("b"));
        for _ in 0..1_000 {
            let ticket = ready.push("a".to_owned(), Class::CAMPAIGN, ANY);
            ready.withdraw(ticket);
        }
        assert!(ready.queues.iter().all(|queue| queue.lanes.is_empty() && queue.turns.is_empty()));
    }
}
