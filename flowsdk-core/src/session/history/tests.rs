//! Whatever is pushed and written, in whatever order, the archive and the row are one list.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::session::{Redirect, SessionId};

fn stop(n: usize) -> Stop {
    Stop { flow_id: "f".parse().expect("an id"), block_id: format!("b{n}").parse().expect("an id") }
}

fn chunk(first: i64, entries: &[Stop]) -> HistoryChunk {
    HistoryChunk { kind: HistoryKind::Stop, first, entries: entries.to_vec() }
}

fn session() -> Session {
    let id = SessionId::parse("wc-a-b").expect("an id");
    let [router, contact, chat] = ["r", "c", "h"];
    Session::begin(
        id,
        router.parse().expect("an id"),
        contact.parse().expect("an id"),
        chat.parse().expect("an id"),
        Timestamp::from_millis(1),
    )
}

/// The writer of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Process {
    New,
    /// Knows nothing of archives, and drops the count when it writes.
    Old,
}

/// The list as stored, beside the list as it was.
#[derive(Default)]
struct World {
    all: Vec<Stop>,
    latest: Vec<Stop>,
    /// Written with a full row only.
    before: Option<i64>,
    chunks: BTreeMap<i64, Vec<Stop>>,
}

impl World {
    fn read(&self) -> Session {
        let counted = self.latest.len() < MAX_HISTORY || self.before.is_some();
        let last = self.chunks.last_key_value();
        let last = last.map(|(&first, entries)| chunk(first, entries));
        let before = if counted { 0 } else { entries_before(&self.latest, last.as_ref()) };
        Session { history: self.latest.clone(), stops_before: self.before.unwrap_or(before), ..session() }
    }

    fn turn(&mut self, process: Process, stops: &[Stop]) {
        let mut session = self.read();
        for stop in stops {
            self.all.push(stop.clone());
            session.push_stop(stop.clone());
        }
        assert!(session.history.len() <= MAX_HISTORY);
        self.latest = session.history;
        self.before = None;
        if process == Process::New {
            self.before = (self.latest.len() == MAX_HISTORY).then_some(session.stops_before);
            for chunk in session.archive {
                assert_eq!((chunk.first % CHUNK, count(&chunk.entries)), (0, CHUNK));
                if let Some(below) = chunk.drops_below() {
                    self.chunks.retain(|&first, _| first >= below);
                }
                self.chunks.insert(chunk.first, chunk.entries);
            }
        }
    }

    /// All that a reader is shown, page by page, oldest first.
    fn shown(&self, limit: u32) -> Vec<(i64, Stop)> {
        let (mut shown, mut until) = (Vec::new(), None);
        loop {
            let latest = LatestEntries::of(&self.read(), HistoryKind::Stop);
            let wanted = latest.wanted(until, limit);
            let (below, most) = wanted.map_or((0, 0), |wanted| (wanted.below, wanted.most));
            let chunks = self.chunks.range(..below).rev().take(usize::try_from(most).expect("few"));
            let chunks = chunks.map(|(&first, entries)| chunk(first, entries)).collect();
            let (items, more) = latest.page(chunks, until, limit);
            assert!(!more || items.len() == usize::try_from(limit).expect("few"), "a full page");
            until = items.last().map(|(number, _)| *number);
            shown.extend(items);
            if !more {
                shown.reverse();
                return shown;
            }
        }
    }
}

/// Whether `part` is `whole` without some of its entries.
fn is_within(part: &[Stop], whole: &[Stop]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|one| rest.any(|other| other == one))
}

fn turns(most: usize, process: BoxedStrategy<Process>) -> impl Strategy<Value = Vec<(Process, usize)>> {
    prop::collection::vec((process, prop_oneof![6 => 0..3_usize, 1 => 15..50_usize]), 0..most)
}

proptest! {
    #[test]
    fn every_stop_is_shown_once_in_order(turns in turns(120, Just(Process::New).boxed()), limit in 1..60_u32) {
        let mut world = World::default();
        for (process, pushes) in turns {
            let next = world.all.len();
            world.turn(process, &(next..next + pushes).map(stop).collect::<Vec<_>>());
        }
        let shown = world.shown(limit);
        let expected: Vec<_> = (0..).zip(world.all.clone()).collect();
        prop_assert_eq!(shown, expected);
        prop_assert!(count(&world.all) - count(&world.latest) <= CHUNK * world.chunks.len() as i64);
    }

    #[test]
    fn beside_older_processes_no_stop_is_shown_twice(
        turns in turns(40, prop_oneof![3 => Just(Process::New), 1 => Just(Process::Old)].boxed()),
        blocks in prop_oneof![Just(1_usize), Just(3), Just(7), Just(1_000_000)],
        limit in 1..60_u32,
    ) {
        let mut world = World::default();
        for (process, pushes) in turns {
            let next = world.all.len();
            world.turn(process, &(next..next + pushes).map(|n| stop(n % blocks)).collect::<Vec<_>>());
            let shown = world.shown(limit);
            prop_assert!(shown.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0));
            let shown: Vec<_> = shown.into_iter().map(|(_, stop)| stop).collect();
            prop_assert!(is_within(&shown, &world.all));
            prop_assert!(shown.ends_with(&world.latest));
            if blocks == 1_000_000 {
                // Where no stop comes again, all that were archived or stand in the row are shown.
                let mut known: Vec<_> = world.chunks.values().flatten().chain(&world.latest).collect();
                known.sort_by_key(|stop| stop.block_id.as_str()[1..].parse::<usize>().expect("a number"));
                known.dedup();
                prop_assert_eq!(shown.iter().collect::<Vec<_>>(), known);
            }
        }
    }
}

#[test]
fn at_most_ten_thousand_are_kept() {
    let mut world = World::default();
    for from in (0..10_100).step_by(7) {
        world.turn(Process::New, &(from..from + 7).map(stop).collect::<Vec<_>>());
        let len = world.all.len();
        if len < 9_900 {
            continue;
        }
        let shown = world.shown(200);
        assert!(shown.len() <= 10_000 && shown.len() >= len.min(10_000 - MAX_HISTORY), "{len}");
        assert_eq!(
            shown.last().map(|(number, stop)| (*number, stop)),
            Some((count(&world.all) - 1, &world.all[len - 1]))
        );
    }
    let shown: Vec<_> = world.shown(200).into_iter().map(|(_, stop)| stop).collect();
    assert!(world.all.ends_with(&shown));
}

#[test]
fn the_archive_takes_one_write_in_twenty_pushes() {
    let mut session = session();
    let chunks: Vec<usize> = (0..100)
        .map(|n| {
            session.push_stop(stop(n));
            std::mem::take(&mut session.archive).len()
        })
        .collect();
    let written: Vec<_> = (0..100).filter(|&n| chunks[n] > 0).collect();
    assert_eq!(written, [20, 40, 60, 80], "when the row is full and another one comes");
}

#[test]
fn redirects_are_archived_as_the_places_they_led_to() {
    let mut session = session();
    for n in 0..=20 {
        let Stop { flow_id, block_id } = stop(n);
        session.push_redirect(Redirect { flow_id, block_id, redirect_id: Some(n.to_string()) });
    }
    let entries = (0..20).map(stop).collect();
    assert_eq!(session.archive, [HistoryChunk { kind: HistoryKind::Redirect, first: 0, entries }]);
    assert_eq!(
        (session.redirects_before, session.stops_before, session.redirects.len()),
        (1, 0, MAX_HISTORY)
    );
    let latest = LatestEntries::of(&session, HistoryKind::Redirect);
    assert_eq!((latest.first, latest.entries.first()), (1, Some(&stop(1))));
}

#[test]
fn entries_that_a_row_and_a_chunk_have_in_common_count_once() {
    for (latest, archived, before) in [
        (vec![1, 2, 3], None, 0),
        (vec![4, 5, 6], Some(vec![1, 2, 3]), 43),
        (vec![3, 4, 5], Some(vec![1, 2, 3]), 42),
        (vec![2, 3, 4], Some(vec![1, 2, 3]), 41),
        (vec![1, 2, 3], Some(vec![1, 2, 3]), 40),
        (vec![1, 1, 1], Some(vec![2, 1, 1]), 41),
        (vec![1, 2], Some(vec![2, 1]), 41),
        (vec![], Some(vec![1]), 41),
    ] {
        let latest: Vec<_> = latest.into_iter().map(stop).collect();
        let stops = |of: Vec<usize>| of.into_iter().map(stop).collect::<Vec<_>>();
        let archived = archived.map(|of| chunk(40, &stops(of)));
        assert_eq!(entries_before(&latest, archived.as_ref()), before, "{latest:?} {archived:?}");
    }
}

#[test]
fn a_place_survives_its_way_through_a_client() {
    let place = HistoryPlace { started_at: Timestamp::from_millis(7), number: 41 };
    assert_eq!(HistoryPlace::parse(&place.to_string()), Ok(place));
    let other = |id: &str| Cursor { at: Timestamp::from_millis(7), id: id.to_owned() }.to_string();
    for bad in ["", "41", "zz", &other("-1"), &other("x"), &other("99999999999999999999")] {
        assert_eq!(HistoryPlace::parse(bad), Err(InvalidCursor), "{bad}");
    }
}
