//! Invariants of the visitors' own messages.

use std::collections::{HashMap, HashSet};

use super::Verdict;
use crate::soak::record::{Database, Direction, Stored, Visitor};

/// Stored messages of visitors by their text, which is unique.
fn stored_by_text(database: &Database) -> HashMap<&str, Vec<&Stored>> {
    let mut by_text: HashMap<&str, Vec<&Stored>> = HashMap::new();
    for message in database.messages.iter().filter(|message| message.direction == Direction::In) {
        by_text.entry(&message.text).or_default().push(message);
    }
    by_text
}

/// Every acknowledged message is stored under the id that its acks name.
pub(super) fn acknowledged_are_stored(visitors: &[Visitor], database: &Database) -> Verdict {
    let mut verdict = Verdict::new("acknowledged messages are stored once, under the id of the ack");
    let stored = stored_by_text(database);
    for visitor in visitors {
        for said in visitor.said.iter().filter(|said| !said.acks.is_empty()) {
            let rows = stored.get(said.text.as_str()).map_or(&[][..], Vec::as_slice);
            let is_right = rows.len() == 1
                && said.acks.iter().all(|ack| *ack == rows[0].id)
                && visitor.session.as_deref() == Some(&rows[0].session);
            verdict.unless(is_right, || {
                format!("{}: {said:?} (session {:?}) is stored as {rows:?}", visitor.name, visitor.session)
            });
        }
    }
    verdict
}

/// A message is stored at most once, however often it was sent, and nothing is stored that nobody said.
pub(super) fn client_ids_are_stored_once(visitors: &[Visitor], database: &Database) -> Verdict {
    let mut verdict = Verdict::new("a clientMessageId is stored once");
    let stored = stored_by_text(database);
    let mut said = HashSet::new();
    for visitor in visitors {
        for message in &visitor.said {
            said.insert(message.text.as_str());
            let rows = stored.get(message.text.as_str()).map_or(&[][..], Vec::as_slice);
            verdict
                .unless(rows.len() <= 1, || format!("{}: {message:?} is stored as {rows:?}", visitor.name));
        }
    }
    for (text, rows) in &stored {
        if !said.contains(text) {
            verdict.wrong(format!("nobody said {rows:?}"));
        }
    }
    verdict
}

/// A message that was first sent after the ack of another one is stored behind it.
pub(super) fn order_is_kept(visitors: &[Visitor], database: &Database) -> Verdict {
    let mut verdict = Verdict::new("messages are stored in the order in which they were acknowledged");
    let stored = stored_by_text(database);
    for visitor in visitors {
        let mut earlier: Option<&Stored> = None;
        let mut settled = 0;
        for said in &visitor.said {
            while settled < said.settled_before {
                let row = stored.get(visitor.said[settled].text.as_str()).and_then(|rows| rows.first());
                earlier = match (earlier, row) {
                    (Some(known), Some(row)) if known.seq > row.seq => Some(known),
                    (known, row) => row.copied().or(known),
                };
                settled += 1;
            }
            let Some(row) = stored.get(said.text.as_str()).and_then(|rows| rows.first()) else { continue };
            let holds = earlier.is_none_or(|before| before.chat != row.chat || before.seq < row.seq);
            verdict.unless(holds, || {
                format!("{}: {row:?} stands before {earlier:?}, acknowledged earlier", visitor.name)
            });
        }
    }
    verdict
}

/// The numbers of a chat are 1, 2, 3 and so on.
pub(super) fn numbers_have_no_gap(database: &Database) -> Verdict {
    let mut verdict = Verdict::new("seq has no gap and no repetition in a chat");
    let mut last: HashMap<&str, u64> = HashMap::new();
    for message in &database.messages {
        let before = last.insert(&message.chat, message.seq).unwrap_or(0);
        verdict.unless(message.seq == before + 1, || format!("after {before} comes {message:?}"));
    }
    verdict
}

/// The server answered as its documents say.
pub(super) fn clients_were_not_surprised(visitors: &[Visitor]) -> Verdict {
    let mut verdict = Verdict::new("clients are refused only for reasons that pass");
    for visitor in visitors {
        verdict.checked += u64::from(visitor.connections);
        for surprise in &visitor.surprises {
            verdict.wrong(format!("{}: {surprise}", visitor.name));
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::check::sample;

    const TEXTS: [&str; 3] = ["say v1 0", "say v1 1", "say v1 2"];

    fn violations(
        check: fn(&[Visitor], &Database) -> Verdict,
        visitor: &Visitor,
        database: &Database,
    ) -> u64 {
        check(std::slice::from_ref(visitor), database).violations
    }

    #[test]
    fn a_lost_message_is_found() {
        let (visitor, mut database) = sample::conversation(&TEXTS);
        assert_eq!(violations(acknowledged_are_stored, &visitor, &database), 0);
        database.messages.retain(|message| message.text != "say v1 1");
        assert_eq!(violations(acknowledged_are_stored, &visitor, &database), 1);
    }

    #[test]
    fn an_ack_that_names_another_message_is_found() {
        let (mut visitor, database) = sample::conversation(&TEXTS);
        visitor.said[1].acks.push("another".to_owned());
        assert_eq!(violations(acknowledged_are_stored, &visitor, &database), 1);
    }

    #[test]
    fn a_message_in_a_foreign_session_is_found() {
        let (visitor, mut database) = sample::conversation(&TEXTS);
        database.messages[0].session = "wc-c-v2".to_owned();
        assert_eq!(violations(acknowledged_are_stored, &visitor, &database), 1);
    }

    #[test]
    fn a_doubled_message_is_found_also_without_an_ack() {
        let (mut visitor, mut database) = sample::conversation(&TEXTS);
        visitor.said[2].acks.clear();
        assert_eq!(violations(client_ids_are_stored_once, &visitor, &database), 0);
        sample::store(&mut database, "again", Direction::In, "say v1 2");
        assert_eq!(violations(client_ids_are_stored_once, &visitor, &database), 1);
    }

    #[test]
    fn a_message_that_nobody_said_is_found() {
        let (visitor, mut database) = sample::conversation(&TEXTS);
        sample::store(&mut database, "x", Direction::In, "say v9 1");
        assert_eq!(violations(client_ids_are_stored_once, &visitor, &database), 1);
    }

    #[test]
    fn messages_in_another_order_are_found() {
        let (mut visitor, mut database) = sample::conversation(&TEXTS);
        assert_eq!(violations(order_is_kept, &visitor, &database), 0);
        database.messages[0].seq = 9;
        assert_eq!(violations(order_is_kept, &visitor, &database), 2);
        // Sent before the ack of the one before it: no order was promised.
        visitor.said[1].settled_before = 0;
        assert_eq!(violations(order_is_kept, &visitor, &database), 1);
    }

    #[test]
    fn gaps_and_repetitions_of_numbers_are_found() {
        let (_, mut database) = sample::conversation(&TEXTS);
        assert_eq!(numbers_have_no_gap(&database).violations, 0);
        database.messages[5].seq = 5;
        assert_eq!(numbers_have_no_gap(&database).violations, 1);
        database.messages.remove(2);
        assert_eq!(numbers_have_no_gap(&database).violations, 2);
    }

    #[test]
    fn a_surprise_is_a_violation() {
        let (mut visitor, _) = sample::conversation(&TEXTS);
        visitor.surprises.push("auth_error identity_invalid".to_owned());
        assert_eq!(clients_were_not_surprised(&[visitor]).violations, 1);
    }
}
