//! The lanes that may run now, by class.

use std::collections::VecDeque;

use super::turn::{CLASSES, Class};

/// A class that waited while so many lanes of other classes were handed out comes next.
pub(super) const SHARE: u32 = 16;

/// A place in the queue of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) class: Class,
    number: u64,
}

/// First in, first out within a class. The most urgent class comes first, and the others have a guaranteed share.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queues: [VecDeque<(String, Ticket)>; CLASSES],
    /// Tickets of each queue that were not withdrawn.
    valid: [usize; CLASSES],
    /// How many lanes of more urgent classes were handed out while a lane of this class was ready.
    passed: [u32; CLASSES],
    issued: u64,
}

impl Ready {
    /// Puts a lane at the end of the queue of `class`.
    pub(super) fn push(&mut self, key: String, class: Class) -> Ticket {
        self.issued += 1;
        let ticket = Ticket { class, number: self.issued };
        self.queues[class.index()].push_back((key, ticket));
        self.valid[class.index()] += 1;
        ticket
    }

    /// Takes back a ticket that was not popped. The caller must treat the ticket as void from now on.
    pub(super) fn withdraw(&mut self, ticket: Ticket) {
        let class = ticket.class.index();
        self.valid[class] -= 1;
        if self.valid[class] == 0 {
            // Only withdrawn tickets are left.
            self.queues[class].clear();
            self.passed[class] = 0;
        }
    }

    /// Returns the number of lanes that are ready.
    pub(super) fn len(&self) -> usize {
        self.valid.iter().sum()
    }

    /// Takes the next lane. `holds` says whether a lane still holds a ticket, that is, did not withdraw it.
    pub(super) fn pop(&mut self, holds: impl Fn(&str, Ticket) -> bool) -> Option<String> {
        let class = self.next_class()?;
        let key = loop {
            let (key, ticket) = self.queues[class].pop_front()?;
            if holds(&key, ticket) {
                break key;
            }
        };
        self.valid[class] -= 1;
        self.passed[class] = 0;
        for lower in class + 1..CLASSES {
            if self.valid[lower] > 0 {
                self.passed[lower] += 1;
            }
        }
        Some(key)
    }

    fn next_class(&self) -> Option<usize> {
        let waits = |class: &usize| self.valid[*class] > 0;
        let overdue = (0..CLASSES).rev().filter(waits).find(|class| self.passed[*class] >= SHARE);
        overdue.or_else(|| (0..CLASSES).find(waits))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

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
                ready.push(format!("ahead {n}"), Class::new(class));
            }
            ready.push("it".to_owned(), Class::new(class));
            for (n, &class) in crowd.iter().enumerate() {
                ready.push(format!("crowd {n}"), Class::new(class));
            }
            let bound = (ahead + 1) * (SHARE as usize + 2 * CLASSES);
            let mut waited = 0;
            loop {
                let key = ready.pop(|_, _| true).expect("ready");
                if key == "it" {
                    break;
                }
                // Each lane of the crowd is ready again at once.
                if let Some(n) = key.strip_prefix("crowd ") {
                    let class = crowd[n.parse::<usize>().expect("a number")];
                    ready.push(key, Class::new(class));
                }
                waited += 1;
                prop_assert!(waited <= bound, "waited for {} others", waited);
            }
        }

        /// Before its share is due, a lower class waits for every higher one.
        #[test]
        fn a_higher_class_comes_first(lower in 1..20_usize, higher in 1..SHARE as usize) {
            let mut ready = Ready::default();
            for n in 0..lower {
                ready.push(format!("lower {n}"), Class::CAMPAIGN);
            }
            for n in 0..higher {
                ready.push(format!("higher {n}"), Class::LIVE);
            }
            for n in 0..higher {
                let expected = format!("higher {n}");
                prop_assert_eq!(ready.pop(|_, _| true), Some(expected));
            }
            for n in 0..lower {
                let expected = format!("lower {n}");
                prop_assert_eq!(ready.pop(|_, _| true), Some(expected));
            }
            prop_assert_eq!(ready.len(), 0);
        }
    }

    #[test]
    fn a_withdrawn_ticket_is_passed_over_and_takes_no_room() {
        let mut ready = Ready::default();
        let void = ready.push("a".to_owned(), Class::CAMPAIGN);
        ready.push("b".to_owned(), Class::CAMPAIGN);
        ready.withdraw(void);
        assert_eq!(ready.len(), 1);
        assert_eq!(ready.pop(|_, ticket| ticket != void).as_deref(), Some("b"));
        for _ in 0..1_000 {
            let ticket = ready.push("a".to_owned(), Class::CAMPAIGN);
            ready.withdraw(ticket);
        }
        assert!(ready.queues.iter().all(VecDeque::is_empty));
    }
}
