//! Invariants of the messages that visitors received.

use std::collections::{HashMap, HashSet};

use super::Verdict;
use crate::soak::record::{Database, Direction, Stored, Visitor};

/// Stored answers by session, each in the order of the history.
fn answers_by_session(database: &Database) -> HashMap<&str, Vec<&Stored>> {
    let mut by_session: HashMap<&str, Vec<&Stored>> = HashMap::new();
    for message in database.messages.iter().filter(|message| message.direction == Direction::Out) {
        by_session.entry(&message.session).or_default().push(message);
    }
    by_session
}

/// Every stored answer was seen by its visitor.
pub(super) fn all_is_seen(visitors: &[Visitor], database: &Database) -> Verdict {
    let mut verdict = Verdict::new("every stored answer was seen by its visitor");
    let stored = answers_by_session(database);
    for visitor in visitors {
        let seen: HashSet<&str> = visitor.seen.iter().map(|seen| seen.id.as_str()).collect();
        let answers = visitor.session.as_deref().and_then(|session| stored.get(session));
        for message in answers.into_iter().flatten() {
            verdict.unless(seen.contains(message.id.as_str()), || {
                format!("{} of {} connections never saw {message:?}", visitor.name, visitor.connections)
            });
        }
    }
    verdict
}

/// Each message that was seen is stored, as it was seen, in the visitor's own session.
pub(super) fn nothing_else_is_seen(visitors: &[Visitor], database: &Database) -> Verdict {
    let mut verdict = Verdict::new("each message that was seen is stored as it was seen");
    let stored: HashMap<&str, &Stored> =
        database.messages.iter().map(|message| (message.id.as_str(), message)).collect();
    for visitor in visitors {
        for seen in &visitor.seen {
            let row = stored.get(seen.id.as_str());
            let is_same = row.is_some_and(|row| {
                row.direction == Direction::Out
                    && (&row.chat, row.seq, &row.text) == (&seen.chat, seen.seq, &seen.text)
                    && visitor.session.as_deref() == Some(&row.session)
            });
            verdict.unless(is_same, || format!("{} saw {seen:?}, stored is {row:?}", visitor.name));
        }
    }
    verdict
}

/// Once repeated ids are left out, messages of a chat came in the order of `seq`, each number once.
pub(super) fn order_is_the_histories(visitors: &[Visitor]) -> Verdict {
    let mut verdict = Verdict::new("messages were seen in the order of the history, once");
    for visitor in visitors {
        let mut known = HashSet::new();
        let mut highest: HashMap<&str, u64> = HashMap::new();
        for seen in visitor.seen.iter().filter(|seen| known.insert(seen.id.as_str())) {
            let before = highest.entry(&seen.chat).or_default();
            verdict.unless(seen.seq > *before, || format!("{} saw {seen:?} after {before}", visitor.name));
            *before = seen.seq.max(*before);
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::check::sample;

    const TEXTS: [&str; 3] = ["say v1 0", "twice v1 1", "say v1 2"];

    #[test]
    fn a_missed_answer_is_found() {
        let (mut visitor, database) = sample::conversation(&TEXTS);
        visitor.seen.remove(1);
        assert_eq!(all_is_seen(&[visitor], &database).violations, 1);
    }

    #[test]
    fn an_answer_that_is_not_stored_is_found() {
        let (visitor, mut database) = sample::conversation(&TEXTS);
        database.messages.retain(|message| message.text != "second twice v1 1");
        assert_eq!(nothing_else_is_seen(&[visitor], &database).violations, 1);
    }

    #[test]
    fn an_answer_to_somebody_else_is_found() {
        let (mut visitor, database) = sample::conversation(&TEXTS);
        visitor.session = Some("wc-c-v2".to_owned());
        assert_eq!(nothing_else_is_seen(&[visitor], &database).violations, 4);
    }

    #[test]
    fn another_number_than_the_stored_one_is_found() {
        let (mut visitor, database) = sample::conversation(&TEXTS);
        visitor.seen[3].seq += 1;
        assert_eq!(nothing_else_is_seen(&[visitor], &database).violations, 1);
    }

    #[test]
    fn repetitions_count_by_their_id_only() {
        let (mut visitor, _) = sample::conversation(&TEXTS);
        visitor.seen.push(visitor.seen[0].clone());
        assert_eq!(order_is_the_histories(&[visitor.clone()]).violations, 0);
        visitor.seen[4].id = "another".to_owned();
        assert_eq!(order_is_the_histories(&[visitor]).violations, 1);
    }

    #[test]
    fn another_order_is_found() {
        let (mut visitor, _) = sample::conversation(&TEXTS);
        visitor.seen.swap(1, 2);
        assert_eq!(order_is_the_histories(&[visitor]).violations, 1);
    }
}
