//! The invariants: pure functions from records to verdicts.

mod answers;
mod history;
mod messages;
mod processes;
mod seen;
mod sessions;

use serde::Serialize;

use super::record::{Database, Processes, Visitor};

/// How many violations of an invariant are kept in full.
const KEPT: usize = 1_000;

/// The result of one invariant.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Verdict {
    pub(super) invariant: &'static str,
    pub(super) checked: u64,
    pub(super) violations: u64,
    /// The first of them.
    pub(super) examples: Vec<String>,
}

impl Verdict {
    fn new(invariant: &'static str) -> Self {
        Self { invariant, checked: 0, violations: 0, examples: Vec::new() }
    }

    fn look(&mut self) {
        self.checked += 1;
    }

    fn wrong(&mut self, what: String) {
        self.violations += 1;
        if self.examples.len() < KEPT {
            self.examples.push(what);
        }
    }

    /// Counts one look, and a violation if it does not hold.
    fn unless(&mut self, holds: bool, what: impl FnOnce() -> String) {
        self.look();
        if !holds {
            self.wrong(what());
        }
    }
}

/// Checks every invariant.
pub(super) fn all(visitors: &[Visitor], database: &Database, processes: &Processes) -> Vec<Verdict> {
    vec![
        messages::acknowledged_are_stored(visitors, database),
        messages::client_ids_are_stored_once(visitors, database),
        messages::order_is_kept(visitors, database),
        messages::numbers_have_no_gap(database),
        answers::each_has_its_answers(database),
        seen::all_is_seen(visitors, database),
        seen::nothing_else_is_seen(visitors, database),
        seen::order_is_the_histories(visitors),
        history::history_is_what_is_stored(visitors, database),
        messages::clients_were_not_surprised(visitors),
        sessions::none_is_frozen(database),
        sessions::none_is_stuck(database),
        sessions::streams_are_empty(database),
        sessions::no_dead_letters(database),
        sessions::database_is_whole(database),
        processes::memory_is_bounded(processes),
        processes::files_are_closed(processes),
        processes::threads_are_bounded(processes),
        processes::wal_is_bounded(processes),
        processes::log_is_bounded(processes),
        processes::no_errors_outside_of_faults(processes),
        processes::ends_were_in_order(processes),
    ]
}

/// Builds small records for the tests of the invariants.
#[cfg(test)]
mod sample {
    use super::super::record::{Database, Direction, Listed, Said, Seen, Stored, Visitor};
    use super::super::script;

    pub(super) const SESSION: &str = "wc-c-v1";

    /// A visitor who said `texts`, each acknowledged once, and saw everything.
    pub(super) fn conversation(texts: &[&str]) -> (Visitor, Database) {
        let mut visitor =
            Visitor { name: "v1".to_owned(), session: Some(SESSION.to_owned()), ..Visitor::default() };
        let mut database = Database::default();
        for (number, text) in texts.iter().enumerate() {
            let id = format!("in-{number}");
            store(&mut database, &id, Direction::In, text);
            visitor.said.push(Said {
                text: (*text).to_owned(),
                client_message_id: format!("m{number}"),
                acks: vec![id],
                settled_before: number,
            });
            for (place, answer) in script::answers(text).iter().enumerate() {
                let seq = store(&mut database, &format!("out-{number}-{place}"), Direction::Out, answer);
                visitor.seen.push(seen(&database.messages[seq as usize - 1]));
            }
        }
        let listed = |row: &Stored| Listed {
            id: row.id.clone(),
            chat: row.chat.clone(),
            seq: row.seq,
            direction: row.direction,
            text: row.text.clone(),
        };
        visitor.history = Some(database.messages.iter().rev().map(listed).collect());
        (visitor, database)
    }

    pub(super) fn store(database: &mut Database, id: &str, direction: Direction, text: &str) -> u64 {
        let seq = database.messages.len() as u64 + 1;
        database.messages.push(Stored {
            id: id.to_owned(),
            chat: "chat".to_owned(),
            session: SESSION.to_owned(),
            seq,
            direction,
            text: text.to_owned(),
        });
        seq
    }

    pub(super) fn seen(message: &Stored) -> Seen {
        Seen {
            id: message.id.clone(),
            chat: message.chat.clone(),
            seq: message.seq,
            text: message.text.clone(),
            connection: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_without_a_fault_passes() {
        let (visitor, database) = sample::conversation(&["say v1 0", "twice v1 1", "ask v1 2", "wait v1 3"]);
        for verdict in all(&[visitor], &database, &Processes::default()) {
            assert_eq!(verdict.violations, 0, "{verdict:?}");
        }
    }
}
