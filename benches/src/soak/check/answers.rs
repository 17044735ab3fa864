//! The invariant of answers.

use std::collections::{HashMap, VecDeque};

use super::Verdict;
use crate::soak::record::{Database, Direction, Stored};
use crate::soak::script::{Kind, answer_key, answers};

/// The answers of a chat that have not come yet, as its rows are read.
#[derive(Default)]
struct Owed<'a> {
    /// With the message that each answers.
    answers: VecDeque<(String, &'a Stored)>,
    /// Those that something else stood before: they were reported, and may come still.
    late: Vec<String>,
}

/// Every message has its answers, once, right behind it. Behind one that waits for the outside others may stand
/// first, whose answers follow in their order.
pub(super) fn each_has_its_answers(database: &Database) -> Verdict {
    let mut verdict = Verdict::new("each message has its answers, once, right behind it");
    let mut chats: HashMap<&str, Owed<'_>> = HashMap::new();
    for message in &database.messages {
        let owed = chats.entry(&message.chat).or_default();
        match message.direction {
            Direction::In => {
                verdict.look();
                while let Some((answer, to)) =
                    owed.answers.pop_front_if(|(_, to)| !Kind::of(&to.text).is_some_and(Kind::lets_others_in))
                {
                    verdict
                        .wrong(format!("{answer:?}, the answer to {to:?}, should stand before {message:?}"));
                    owed.late.push(answer);
                }
                owed.answers.extend(answers(&message.text).into_iter().map(|answer| (answer, message)));
            }
            Direction::Out => owed.take(message, &mut verdict),
        }
    }
    let mut left: Vec<_> = chats.into_values().flat_map(|owed| owed.answers).collect();
    left.sort_by(|(_, a), (_, b)| (&a.chat, a.seq).cmp(&(&b.chat, b.seq)));
    for (answer, to) in left {
        verdict.wrong(format!("{answer:?}, the answer to {to:?}, is missing"));
    }
    verdict
}

impl Owed<'_> {
    fn take(&mut self, message: &Stored, verdict: &mut Verdict) {
        let key = answer_key(&message.text);
        if let Some(place) = self.late.iter().position(|answer| answer == key) {
            self.late.remove(place);
            return;
        }
        let Some(place) = self.answers.iter().position(|(answer, _)| answer == key) else {
            return verdict.wrong(format!("nothing here is answered by {message:?}"));
        };
        for (answer, to) in self.answers.drain(..place) {
            verdict.wrong(format!("{message:?} stands before {answer:?}, the answer to {to:?}"));
            self.late.push(answer);
        }
        self.answers.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::check::sample;

    fn violations(rows: &[(Direction, &str)]) -> u64 {
        let mut database = Database::default();
        for (number, (direction, text)) in rows.iter().enumerate() {
            sample::store(&mut database, &number.to_string(), *direction, text);
        }
        each_has_its_answers(&database).violations
    }

    #[test]
    fn every_fault_of_answers_is_found() {
        use Direction::{In, Out};
        let good = [(In, "say v 0"), (Out, "echo say v 0"), (In, "say v 1"), (Out, "echo say v 1")];
        assert_eq!(violations(&good), 0);
        let without = |at: usize| {
            let mut rows = good.to_vec();
            rows.remove(at);
            rows
        };
        assert_eq!(violations(&without(3)), 1, "missing");
        assert_eq!(violations(&without(0)), 1, "an answer to nothing");
        let doubled = [&good[..2], &good[1..]].concat();
        assert_eq!(violations(&doubled), 1, "doubled");
        let behind_another = [good[0], good[2], good[1], good[3]];
        assert_eq!(violations(&behind_another), 1, "not right behind");
        let swapped = [(In, "twice v 0"), (Out, "second twice v 0"), (Out, "first twice v 0")];
        assert_eq!(violations(&swapped), 1, "misordered");
        // One fault is reported once, not with all that follows.
        let lost =
            [(In, "say v 0"), (In, "say v 1"), (Out, "echo say v 1"), (In, "say v 2"), (Out, "echo say v 2")];
        assert_eq!(violations(&lost), 1, "missing for good");
    }

    #[test]
    fn others_may_stand_behind_a_message_that_waits_for_the_outside() {
        use Direction::{In, Out};
        let waiting =
            [(In, "ask v 0"), (In, "say v 1"), (Out, "asked ask v 0, got 0"), (Out, "echo say v 1")];
        assert_eq!(violations(&waiting), 0);
        assert_eq!(violations(&[waiting[0], waiting[1], waiting[3], waiting[2]]), 1);
    }
}
