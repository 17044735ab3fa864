//! The scheduler against a model that knows where every entry is.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::TestCaseError;

use super::super::*;

const CAPACITY: usize = 40;
const QUIET: i64 = 5;
const LONGEST: i64 = 12;
const MOST: usize = 3;

#[derive(Debug, Clone)]
enum Step {
    Offer(u8, Turn),
    Take(usize),
    Finish(usize),
    Postpone(usize, i64),
    Supersede(usize),
    Revive(usize),
    Split(usize),
    Abandon(usize),
    AbandonLater(u8),
    Tick(i64),
}

fn turn() -> impl Strategy<Value = Turn> {
    (0..CLASSES as u8, 0..3_u8, any::<bool>(), 0..6_u8).prop_map(|(class, party, joins, kind)| Turn {
        class: Class::new(class),
        party: Party::of(&party),
        joins,
        preempts: kind == 0,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => ((0..6_u8), turn()).prop_map(|(key, turn)| Step::Offer(key, turn)),
        4 => (1..4_usize).prop_map(Step::Take),
        3 => (0..8_usize).prop_map(Step::Finish),
        1 => ((0..8_usize), (0..50_i64)).prop_map(|(n, delay)| Step::Postpone(n, delay)),
        3 => (0..8_usize).prop_map(Step::Supersede),
        1 => (0..8_usize).prop_map(Step::Revive),
        1 => (0..8_usize).prop_map(Step::Split),
        1 => (0..40_usize).prop_map(Step::Abandon),
        1 => (0..40_u8).prop_map(Step::AbandonLater),
        2 => (0..10_i64).prop_map(Step::Tick),
        1 => Just(Step::Take(100)),
    ];
    proptest::collection::vec(step, 0..250)
}

/// An entry of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    number: usize,
    key: u8,
    turn: Turn,
    arrived: i64,
}

/// The whereabouts of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Waits,
    Runs,
    /// Held by the entry of this number, which preempted it.
    Superseded(usize),
    Ended,
}

/// Knows of every entry where it is, and checks each piece that is handed out.
#[derive(Default)]
struct Model {
    now: i64,
    entries: Vec<(Entry, Place)>,
    running: Vec<(String, Run<Entry>)>,
    /// Entries that ran before: they join no others any more.
    ran: HashSet<usize>,
    postponed: BTreeMap<usize, i64>,
}

fn members(run: &Run<Entry>) -> Vec<Entry> {
    std::iter::once(run.first).chain(run.rest.iter().copied()).collect()
}

impl Model {
    fn held(&self) -> usize {
        self.entries.iter().filter(|(_, place)| *place != Place::Ended).count()
    }

    fn put(&mut self, run: &Run<Entry>, place: Place) {
        for entry in members(run) {
            self.entries[entry.number].1 = place;
        }
    }

    fn waiting(&self, key: u8) -> impl Iterator<Item = Entry> + '_ {
        let waits = move |(entry, place): &&(Entry, Place)| entry.key == key && *place == Place::Waits;
        self.entries.iter().filter(waits).map(|(entry, _)| *entry)
    }

    /// Checks a piece that was handed out.
    fn handed(&mut self, key: String, run: Run<Entry>) -> Result<(), TestCaseError> {
        let members = members(&run);
        let own = run.first.key;
        prop_assert_eq!(&key, &format!("s{own}"));
        prop_assert!(self.running.iter().all(|(other, _)| *other != key), "{} overlaps", key);
        // A preempting entry comes first; otherwise the members are the oldest, in order, without a gap.
        let (urgent, others): (Vec<_>, Vec<_>) = self.waiting(own).partition(|entry| entry.turn.preempts);
        let expected = if urgent.is_empty() { &others } else { &urgent };
        prop_assert_eq!(&expected[..members.len()], &members[..]);
        // Nothing runs before its time.
        if let Some(at) = self.postponed.remove(&run.first.number) {
            prop_assert!(at <= self.now);
        }
        prop_assert!(members.len() <= MOST);
        if members.len() > 1 && !self.ran.contains(&run.first.number) {
            prop_assert!(members.iter().all(|entry| entry.turn.joins && !entry.turn.preempts));
            prop_assert!(members.iter().all(|entry| !self.ran.contains(&entry.number)));
        }
        let fresh = !self.ran.contains(&run.first.number) && run.first.turn.joins && !run.first.turn.preempts;
        if fresh && members.len() < MOST && others.len() == members.len() {
            prop_assert!(self.now >= run.first.arrived + QUIET.min(LONGEST), "taken before it was quiet");
        }
        if let Some(held) = &run.superseded {
            let expected = Place::Superseded(run.first.number);
            prop_assert!(self::members(held).iter().all(|entry| self.entries[entry.number].1 == expected));
        }
        self.put(&run, Place::Runs);
        self.ran.extend(members.iter().map(|entry| entry.number));
        self.running.push((key, run));
        Ok(())
    }

    fn ended(&mut self, run: &Run<Entry>) {
        self.put(run, Place::Ended);
        if let Some(held) = &run.superseded {
            self.ended(held);
        }
    }

    fn dropped(&mut self, runs: Vec<Run<Entry>>) {
        runs.iter().for_each(|run| self.ended(run));
    }

    fn step(&mut self, lanes: &mut Lanes<Entry>, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Offer(key, turn) => self.offer(lanes, key, turn)?,
            Step::Take(max) => {
                let ready = lanes.ready();
                let batch = lanes.take(max);
                prop_assert_eq!(batch.len(), ready.min(max));
                for (key, run) in batch {
                    self.handed(key, run)?;
                }
            }
            Step::Tick(by) => {
                self.now += by;
                lanes.release(Timestamp::from_millis(self.now));
            }
            Step::AbandonLater(key) => {
                let runs = lanes.abandon_later(|entry| entry.key == key);
                self.dropped(runs);
            }
            Step::Finish(n)
            | Step::Postpone(n, _)
            | Step::Supersede(n)
            | Step::Revive(n)
            | Step::Split(n)
            | Step::Abandon(n)
                if n < self.running.len() =>
            {
                let (key, run) = self.running.remove(n);
                self.answer(lanes, step, &key, run)?;
            }
            _ => {}
        }
        prop_assert_eq!(lanes.len(), self.held());
        let of_parties: usize = (0..3_u8).map(|party| lanes.held_by(Party::of(&party))).sum();
        prop_assert_eq!(of_parties, lanes.len());
        prop_assert!(lanes.len() <= CAPACITY);
        Ok(())
    }

    fn offer(&mut self, lanes: &mut Lanes<Entry>, key: u8, turn: Turn) -> Result<(), TestCaseError> {
        let entry = Entry { number: self.entries.len(), key, turn, arrived: self.now };
        let name = format!("s{key}");
        let running = self.running.iter().find(|(other, _)| *other == name);
        let waits_already = self.waiting(key).any(|entry| entry.turn.preempts);
        match lanes.offer(&name, entry, turn, Timestamp::from_millis(self.now)) {
            Ok(offered) => {
                let may_cancel = running.is_some_and(|(_, run)| !run.first.turn.preempts) && !waits_already;
                prop_assert_eq!(offered == Offered::Cancels, turn.preempts && may_cancel);
                self.entries.push((entry, Place::Waits));
            }
            Err(_) => prop_assert_eq!(self.held(), CAPACITY),
        }
        Ok(())
    }

    fn answer(
        &mut self,
        lanes: &mut Lanes<Entry>,
        step: Step,
        key: &str,
        run: Run<Entry>,
    ) -> Result<(), TestCaseError> {
        match step {
            Step::Postpone(_, delay) => {
                self.put(&run, Place::Waits);
                self.postponed.insert(run.first.number, self.now + delay);
                lanes.postpone(key, run, Timestamp::from_millis(self.now + delay));
            }
            Step::Supersede(_) => {
                let urgent = self.waiting(run.first.key).find(|entry| entry.turn.preempts);
                let urgent = urgent.filter(|_| !run.first.turn.preempts).filter(|urgent| {
                    self.entries.iter().all(|(_, place)| *place != Place::Superseded(urgent.number))
                });
                match lanes.supersede(key, run.clone()) {
                    Ok(()) => {
                        let by = urgent.map(|entry| entry.number);
                        prop_assert!(by.is_some(), "dropped for nobody");
                        self.put(&run, Place::Superseded(by.unwrap_or_default()));
                    }
                    Err(same) => {
                        prop_assert_eq!(urgent, None);
                        lanes.finished(key);
                        self.ended(&same);
                    }
                }
            }
            Step::Revive(_) if run.superseded.is_some() => {
                let held = run.superseded.clone().map(|held| *held).expect("there is");
                self.put(&run, Place::Ended);
                self.put(&held, Place::Waits);
                lanes.revive(key, held);
            }
            Step::Split(_) => {
                self.put(&run, Place::Waits);
                lanes.split(key, run);
            }
            Step::Abandon(_) => {
                let waited = lanes.abandon(key);
                self.ended(&run);
                let waiting: Vec<_> = self.waiting(run.first.key).map(|entry| entry.number).collect();
                let mut dropped: Vec<_> = waited.iter().flat_map(members).map(|entry| entry.number).collect();
                dropped.sort_unstable();
                prop_assert_eq!(waiting, dropped);
                self.dropped(waited);
            }
            _ => {
                self.ended(&run);
                lanes.finished(key);
            }
        }
        Ok(())
    }

    /// Lets everything run to its end.
    fn drain(&mut self, lanes: &mut Lanes<Entry>) -> Result<(), TestCaseError> {
        let mut rounds = 0;
        while !lanes.is_empty() {
            for (key, run) in std::mem::take(&mut self.running) {
                self.ended(&run);
                lanes.finished(&key);
            }
            self.now += 100;
            lanes.release(Timestamp::from_millis(self.now));
            prop_assert_eq!(lanes.next_moment(), None);
            let batch = lanes.take(2);
            prop_assert!(!batch.is_empty() || lanes.is_empty(), "stuck");
            for (key, run) in batch {
                self.handed(key, run)?;
            }
            rounds += 1;
            prop_assert!(rounds <= 3 * CAPACITY);
        }
        Ok(())
    }
}

fn coalescing() -> Lanes<Entry> {
    let millis = |n: i64| Duration::from_millis(n.unsigned_abs());
    let rule = Coalesce { quiet: millis(QUIET), longest: millis(LONGEST), most: MOST };
    Lanes::new(CAPACITY).coalescing(Some(rule))
}

proptest! {
    /// Whatever is done: no overlap in a key, order in a key, nothing lost or given twice, no more than fits.
    #[test]
    fn any_sequence_keeps_order_and_never_overlaps(steps in steps()) {
        let mut lanes = coalescing();
        let mut model = Model::default();
        for step in steps {
            model.step(&mut lanes, step)?;
        }
        model.drain(&mut lanes)?;
        prop_assert!(model.entries.iter().all(|(_, place)| *place == Place::Ended));
    }

    /// A key that is never quiet is taken after the longest time, or when it is full.
    #[test]
    fn a_burst_does_not_gather_for_ever(gaps in proptest::collection::vec(0..QUIET, 1..30)) {
        let mut lanes = coalescing();
        let mut now = 0;
        let mut first = None;
        let joins = Turn { joins: true, ..Turn::default() };
        for (number, gap) in gaps.into_iter().enumerate() {
            now += gap;
            lanes.release(Timestamp::from_millis(now));
            let entry = Entry { number, key: 0, turn: joins, arrived: now };
            lanes.offer("s0", entry, joins, Timestamp::from_millis(now)).expect("room");
            let begun = *first.get_or_insert(now);
            let batch = lanes.take(9);
            prop_assert!(!batch.is_empty() || now < begun + LONGEST);
            if let Some((key, run)) = batch.into_iter().next() {
                first = None;
                prop_assert!(run.rest.len() + 1 == MOST || now >= begun + LONGEST);
                lanes.finished(&key);
                if lanes.ready() > 0 || !lanes.is_empty() {
                    // The entries not taken begin a burst of their own.
                    first = Some(now);
                }
            }
        }
    }
}
