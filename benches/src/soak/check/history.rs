//! The invariant of the history that clients read.

use std::collections::HashMap;

use super::Verdict;
use crate::soak::record::{Database, Listed, Stored, Visitor};

/// The history of a visitor has the stored messages of the chat, newest first.
pub(super) fn history_is_what_is_stored(visitors: &[Visitor], database: &Database) -> Verdict {
    let mut verdict = Verdict::new("the history over HTTP has the stored messages");
    let mut stored: HashMap<&str, Vec<&Stored>> = HashMap::new();
    for message in database.messages.iter().rev() {
        stored.entry(&message.session).or_default().push(message);
    }
    for visitor in visitors {
        let (Some(session), Some(history)) = (&visitor.session, &visitor.history) else { continue };
        let rows = stored.get(session.as_str()).map_or(&[][..], Vec::as_slice);
        for place in 0..rows.len().max(history.len()) {
            let (row, listed) = (rows.get(place), history.get(place));
            let is_same = row.zip(listed).is_some_and(|(row, listed)| same(row, listed));
            verdict.unless(is_same, || format!("{}: stored is {row:?}, listed {listed:?}", visitor.name));
            if !is_same {
                // All that follows would only be shifted.
                break;
            }
        }
    }
    verdict
}

fn same(row: &Stored, listed: &Listed) -> bool {
    (&row.id, &row.chat, row.seq, row.direction, &row.text)
        == (&listed.id, &listed.chat, listed.seq, listed.direction, &listed.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::check::sample;

    #[test]
    fn each_difference_is_found() {
        let (visitor, database) = sample::conversation(&["say v1 0", "twice v1 1"]);
        let violations = |change: fn(&mut Vec<Listed>)| {
            let mut visitor = visitor.clone();
            change(visitor.history.as_mut().expect("a history"));
            history_is_what_is_stored(&[visitor], &database).violations
        };
        assert_eq!(violations(|_| {}), 0);
        assert_eq!(violations(|history| history.swap(1, 2)), 1, "another order");
        assert_eq!(violations(|history| drop(history.remove(2))), 1, "missing");
        assert_eq!(violations(|history| drop(history.pop())), 1, "the first is missing");
        assert_eq!(violations(|history| history.push(history[0].clone())), 1, "twice");
        assert_eq!(violations(|history| history[3].text.clear()), 1, "another text");
    }
}
