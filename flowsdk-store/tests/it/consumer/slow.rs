//! A consumer of slow work: bursts are one piece of work, a takeover cancels the running work of its key, some events
//! never work. Its owners die and lose their partition at random moments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flowsdk_core::change::Author;
use flowsdk_core::page::PageRequest;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::dead_letter::{DeadLetter, DeadLetterError, DeadLetterFilter};
use flowsdk_core::time::{Clock as _, SystemClock};
use flowsdk_store::sql::{OutboxRoutes, SqlStore};

use super::ground::{Ground, Process};
use super::work::{Desk, Kind, Note, Notes, Outcome, Random, Shared};
use crate::support::databases::{on_every_database, postgres_with};

on_every_database! {
    owners_that_die_at_random_lose_nothing,
}

const KEYS: u64 = 6;
const ROUNDS: usize = 24;
/// Processes that want the partition at the same time.
const PROCESSES: usize = 2;

async fn owners_that_die_at_random_lose_nothing(store: SqlStore) {
    play(Ground::in_database(store)).await;
}

/// The same between processes: PostgreSQL for dead letters and the outbox, Redis for streams and leases.
#[test]
fn owners_that_die_at_random_lose_nothing_between_processes() {
    let make = || async {
        let redis = crate::redis::server().await?;
        Some(Ground::over_redis(postgres_with(OutboxRoutes::relayed()).await?, &redis))
    };
    flowsdk_core::testkit::run("owners_that_die_at_random_between_processes", make, play);
}

/// The seed of this run; `FLOWSDK_TEST_SEED` repeats one.
#[allow(clippy::print_stderr, reason = "a run that failed must be repeatable")]
fn seed() -> u64 {
    let given = std::env::var("FLOWSDK_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| SystemClock.now().as_millis().unsigned_abs());
    eprintln!("FLOWSDK_TEST_SEED={seed}");
    seed
}

async fn play(ground: Ground) {
    let seed = seed();
    let mut random = Random(seed);
    let shared = Arc::new(Shared::new(seed));
    let mut notes: Vec<Note> = Vec::new();
    let mut processes: Vec<Process> = Vec::new();
    for round in 0..ROUNDS {
        while processes.len() < PROCESSES {
            let name = format!("process {round}.{}", processes.len());
            processes.push(ground.process(name, Desk::new(&ground.kv, &shared)));
        }
        let burst = some_notes(&mut random, notes.len());
        let entries: Vec<_> = burst.iter().map(NewEntry::of::<Notes>).collect();
        ground.broker.publish(&entries).await.expect("publish");
        notes.extend(burst);
        // A moment somewhere in the work, or soon after it.
        let calls = shared.begun() + random.below(6);
        drop(tokio::time::timeout(Duration::from_millis(60), shared.until_begun(calls)).await);
        let victim = random.below(PROCESSES as u64) as usize;
        match random.below(4) {
            0 => processes.remove(victim).stop().await,
            1 => ground.lose_lease().await,
            _ => {
                processes.remove(victim).kill().await;
                ground.forget_the_dead();
            }
        }
    }
    ground.drained().await;
    for process in processes {
        process.stop().await;
    }
    let letters = all_letters(&ground).await;
    check(&notes, &logs(&ground).await, &letters, &shared);

    // Somebody has repaired what failed: each dead letter is retried twice at once, and handled once.
    shared.healed.store(true, Ordering::SeqCst);
    // It is there before the retries, which therefore reach it one by one.
    let last = ground.process("the last".to_owned(), Desk::new(&ground.kv, &shared));
    for letter in &letters {
        let (letters, author) = (&ground.letters, Author::default());
        let both = tokio::join!(letters.retry(&author, &letter.id), letters.retry(&author, &letter.id));
        let ((Ok(()), Err(DeadLetterError::NotFound)) | (Err(DeadLetterError::NotFound), Ok(()))) = both
        else {
            panic!("{both:?}");
        };
    }
    shared.until_logged(letters.len()).await;
    ground.drained().await;
    last.stop().await;
    assert_eq!(all_letters(&ground).await, []);
    let logged = logs(&ground).await;
    for letter in letters {
        let number = number_of(&letter);
        let times = logged.values().flatten().filter(|logged| **logged == number).count();
        assert_eq!(times, 1, "{number} after its retry");
    }
    ground.end().await;
}

/// A few events of some keys, one after the other.
fn some_notes(random: &mut Random, from: usize) -> Vec<Note> {
    let count = 3 + random.below(10) as usize;
    (from..from + count)
        .map(|number| {
            let kind = match random.below(20) {
                0..3 => Kind::Takeover,
                3 => Kind::BrokenTakeover,
                4 => Kind::Broken,
                _ => Kind::Message,
            };
            Note { key: format!("k{}", random.below(KEYS)), number, kind }
        })
        .collect()
}

/// The numbers in the log of each key, in order.
async fn logs(ground: &Ground) -> BTreeMap<String, Vec<usize>> {
    let mut logs = BTreeMap::new();
    for key in (0..KEYS).map(|key| format!("k{key}")) {
        let log = super::work::log(&*ground.kv, &key).await;
        let notes = log.expect("the log").into_iter().flatten();
        logs.insert(key, notes.map(|note| note.number).collect());
    }
    logs
}

async fn all_letters(ground: &Ground) -> Vec<DeadLetter> {
    let (mut letters, mut after) = (Vec::new(), None);
    loop {
        let page = PageRequest { limit: 3, after };
        let page = ground.letters.list(&DeadLetterFilter::default(), &page).await.expect("a page");
        letters.extend(page.items);
        after = page.next;
        if after.is_none() {
            return letters;
        }
    }
}

fn number_of(letter: &DeadLetter) -> usize {
    serde_json::from_str::<Note>(&letter.payload).expect("the payload").number
}

/// Each event has ended in exactly one way, and each key kept its order.
fn check(notes: &[Note], logs: &BTreeMap<String, Vec<usize>>, letters: &[DeadLetter], shared: &Shared) {
    let dead: Vec<_> = letters.iter().map(number_of).collect();
    assert_eq!(dead.iter().collect::<BTreeSet<_>>().len(), dead.len(), "a dead letter is one row");
    for note in notes {
        let log = &logs[&note.key];
        let logged = log.iter().filter(|number| **number == note.number).count();
        let died = usize::from(dead.contains(&note.number));
        let outcome = (logged, died);
        match note.kind {
            Kind::Broken | Kind::BrokenTakeover => assert_eq!(outcome, (0, 1), "{note:?}"),
            Kind::Takeover => assert_eq!(outcome, (1, 0), "{note:?}"),
            Kind::Message if outcome == (0, 0) => {
                // Dropped, for a takeover that came later and was done.
                assert!(shared.said(note.number, Outcome::Dropped), "{note:?} is lost");
                let is_takeover = |number: usize| notes[number].kind == Kind::Takeover;
                let later = log.iter().any(|number| *number > note.number && is_takeover(*number));
                assert!(later, "{note:?} was dropped for nothing");
            }
            Kind::Message => assert_eq!(outcome, (1, 0), "{note:?}"),
        }
    }
    for log in logs.values() {
        let (takeovers, messages): (Vec<usize>, Vec<usize>) =
            log.iter().partition(|number| notes[**number].kind == Kind::Takeover);
        for numbers in [takeovers, messages] {
            assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        }
    }
}
