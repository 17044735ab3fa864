//! Invariants of the stored state, once everything has come to rest.

use std::collections::HashMap;

use serde_json::Value;

use super::Verdict;
use crate::soak::record::{Database, Direction};
use crate::soak::script;

/// How long after its time a timer may still wait to ring, in milliseconds.
const LATE: i64 = 10_000;

fn none_of(mut verdict: Verdict, checked: usize, found: &[String]) -> Verdict {
    verdict.checked = checked as u64;
    for what in found {
        verdict.wrong(what.clone());
    }
    verdict
}

pub(super) fn none_is_frozen(database: &Database) -> Verdict {
    let found = [&database.frozen[..], &database.kept[..]].concat();
    none_of(
        Verdict::new("no session is frozen, and no entry is kept for one"),
        database.sessions.len(),
        &found,
    )
}

/// Every session stands where its visitor's last message leads, and waits for the next one: not for the outside, not
/// for a timer that is overdue, with nothing deferred and nothing ahead.
pub(super) fn none_is_stuck(database: &Database) -> Verdict {
    let mut verdict = Verdict::new("no session is stuck behind its last message");
    let mut last: HashMap<&str, &str> = HashMap::new();
    for message in database.messages.iter().filter(|message| message.direction == Direction::In) {
        last.insert(&message.session, &message.text);
    }
    for session in &database.sessions {
        let state: Value = serde_json::from_str(&session.state).unwrap_or_default();
        let newest = last.get(session.id.as_str()).copied();
        let stands = state.pointer("/position/blockId").and_then(Value::as_str);
        let is_there = newest.and_then(script::block_after) == stands;
        let is_waiting = state.get("pending").is_none_or(Value::is_null)
            && state.get("deferred").and_then(Value::as_array).is_none_or(Vec::is_empty);
        let is_overdue = session.wake_at.is_some_and(|at| at + LATE < database.read_at);
        let is_ahead = session.ahead.as_deref().is_some_and(|ahead| !matches!(ahead, "" | "[]" | "null"));
        verdict.unless(session.mode == "flow" && is_there && is_waiting && !is_overdue && !is_ahead, || {
            format!("{session:?}, whose last message is {newest:?}")
        });
    }
    verdict
}

pub(super) fn streams_are_empty(database: &Database) -> Verdict {
    none_of(Verdict::new("the streams are empty, nothing is pending"), 1, &database.undelivered)
}

pub(super) fn no_dead_letters(database: &Database) -> Verdict {
    none_of(Verdict::new("there are no dead letters"), 1, &database.dead_letters)
}

pub(super) fn database_is_whole(database: &Database) -> Verdict {
    none_of(Verdict::new("the database finds itself whole"), 1, &database.damage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::check::sample;
    use crate::soak::record::Session;

    type Check = fn(&Database) -> Verdict;

    #[test]
    fn whatever_is_left_is_a_violation() {
        let left = || vec!["one".to_owned(), "two".to_owned()];
        let checks: [(Check, Database); 5] = [
            (none_is_frozen, Database { frozen: left(), ..Database::default() }),
            (none_is_frozen, Database { kept: left(), ..Database::default() }),
            (streams_are_empty, Database { undelivered: left(), ..Database::default() }),
            (no_dead_letters, Database { dead_letters: left(), ..Database::default() }),
            (database_is_whole, Database { damage: left(), ..Database::default() }),
        ];
        for (check, database) in checks {
            assert_eq!(check(&Database::default()).violations, 0);
            assert_eq!(check(&database).violations, 2);
        }
    }

    #[test]
    fn each_way_to_be_stuck_is_found() {
        let (_, database) = sample::conversation(&["say v1 0", "wait v1 1"]);
        let good = Session {
            id: sample::SESSION.to_owned(),
            mode: "flow".to_owned(),
            state: r#"{"position":{"blockId":"rang"}}"#.to_owned(),
            ahead: None,
            wake_at: Some(95_000),
        };
        let stuck = |change: fn(&mut Session)| {
            let mut session = good.clone();
            change(&mut session);
            let database = Database { sessions: vec![session], read_at: 100_000, ..database.clone() };
            none_is_stuck(&database).violations
        };
        assert_eq!(stuck(|_| {}), 0);
        assert_eq!(stuck(|session| session.wake_at = Some(80_000)), 1);
        assert_eq!(stuck(|session| session.ahead = Some("[1]".to_owned())), 1);
        assert_eq!(stuck(|session| session.mode = "human".to_owned()), 1);
        for state in [
            r#"{"position":{"blockId":"say"}}"#,
            r#"{"position":{"blockId":"rang"},"pending":{"number":1}}"#,
            r#"{"position":{"blockId":"rang"},"deferred":[{}]}"#,
        ] {
            let session = Session { state: state.to_owned(), ..good.clone() };
            let database = Database { sessions: vec![session], ..database.clone() };
            assert_eq!(none_is_stuck(&database).violations, 1, "{state}");
        }
    }
}
