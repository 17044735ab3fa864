//! The rules of the scheduler, one by one; in `model` all of them under any sequence.

mod model;

use std::collections::HashSet;
use std::time::Duration;

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn plain(lanes: &mut Lanes<u32>, key: &str, entry: u32) {
    lanes.offer(key, entry, Turn::default(), at(0)).expect("room");
}

fn firsts(batch: Vec<(String, Run<u32>)>) -> Vec<(String, u32)> {
    batch.into_iter().map(|(key, run)| (key, run.first)).collect()
}

#[test]
fn a_busy_lane_does_not_starve_the_others() {
    let mut lanes = Lanes::new(1_000);
    for n in 0..500 {
        plain(&mut lanes, "busy", n);
    }
    for key in ["a", "b", "c"] {
        plain(&mut lanes, key, 0);
    }
    let mut seen = HashSet::new();
    for _ in 0..4 {
        for (key, _) in lanes.take(1) {
            lanes.finished(&key);
            seen.insert(key);
        }
    }
    assert_eq!(seen.len(), 4, "every key ran within one round");
}

#[test]
fn a_batch_ends_with_the_piece_that_costs_too_much() {
    let mut lanes = Lanes::new(100);
    let (dear, cheap) = (Party::of("dear"), Party::of("cheap"));
    for n in 0..9 {
        for (name, party) in [("dear", dear), ("cheap", cheap)] {
            let turn = Turn { party, ..Turn::default() };
            lanes.offer(&format!("{name}{n}"), n, turn, at(0)).expect("room");
        }
    }
    let cost = |party| if party == dear { 7 } else { 1 };
    let keys = |batch: Vec<(String, Run<u32>)>| batch.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    assert_eq!(keys(lanes.take_within(9, 10, cost, |_| true)), ["dear0", "cheap0", "dear1"]);
    assert_eq!(keys(lanes.take_within(9, 1, cost, |_| true)), ["cheap1"]);
    assert_eq!(keys(lanes.take_within(9, 0, cost, |_| true)), ["dear2"], "one is always taken");
    assert_eq!(keys(lanes.take_within(2, 100, cost, |_| true)), ["cheap2", "dear3"]);
    assert_eq!(keys(lanes.take_within(2, 100, cost, |party| party == dear)), ["dear4", "dear5"]);
    assert_eq!(keys(lanes.take_within(2, 100, cost, |party| party == cheap)), ["cheap3", "cheap4"]);
}

#[test]
fn a_postponed_entry_holds_only_its_own_lane() {
    let mut lanes = Lanes::new(10);
    plain(&mut lanes, "a", 1);
    plain(&mut lanes, "a", 2);
    plain(&mut lanes, "b", 1);
    let batch = lanes.take(2);
    assert_eq!(batch.len(), 2);
    lanes.postpone("a", Run::of(Turn::default(), 1), at(10));
    lanes.finished("b");
    plain(&mut lanes, "b", 2);
    lanes.release(at(5));
    assert_eq!(lanes.next_moment(), Some(at(10)));
    assert_eq!(firsts(lanes.take(9)), [("b".to_owned(), 2)]);
    lanes.release(at(10));
    assert_eq!(lanes.next_moment(), None);
    assert_eq!(firsts(lanes.take(9)), [("a".to_owned(), 1)]);
}

#[test]
fn a_burst_is_taken_once_it_is_quiet() {
    let rule = Coalesce { quiet: Duration::from_millis(5), longest: Duration::from_millis(50), most: 9 };
    let mut lanes = Lanes::new(10).coalescing(Some(rule));
    let joins = Turn { joins: true, ..Turn::default() };
    for (n, moment) in [0, 3, 6].into_iter().enumerate() {
        lanes.offer("a", n as u32, joins, at(moment)).expect("room");
    }
    lanes.release(at(10));
    assert_eq!(lanes.next_moment(), Some(at(11)));
    lanes.release(at(11));
    assert_eq!(lanes.next_moment(), None);
    let (_, run) = lanes.take(9).remove(0);
    assert_eq!((run.first, &run.rest[..]), (0, &[1, 2][..]));
    // It is tried again with the same members, whatever comes meanwhile.
    lanes.offer("a", 3, joins, at(12)).expect("room");
    lanes.postpone("a", run, at(13));
    lanes.release(at(13));
    let (_, run) = lanes.take(9).remove(0);
    assert_eq!((run.first, &run.rest[..]), (0, &[1, 2][..]));
    // Taken apart, each is alone.
    lanes.split("a", run);
    for expected in 0..3 {
        let (_, run) = lanes.take(9).remove(0);
        assert_eq!((run.first, run.rest.len()), (expected, 0));
        lanes.finished("a");
    }
    lanes.release(at(16));
    assert_eq!(lanes.next_moment(), Some(at(17)));
}

#[test]
fn an_entry_that_preempts_runs_next_and_decides_over_what_it_superseded() {
    let takeover = Turn { preempts: true, ..Turn::default() };
    for fails in [false, true] {
        let mut lanes = Lanes::new(10);
        plain(&mut lanes, "a", 1);
        plain(&mut lanes, "a", 2);
        let (_, run) = lanes.take(1).remove(0);
        assert_eq!(lanes.offer("a", 3, takeover, at(0)), Ok(Offered::Cancels));
        assert_eq!(lanes.offer("a", 4, takeover, at(0)), Ok(Offered::Waits), "cancelled once");
        lanes.supersede("a", run).expect("it was preempted");
        let (_, run) = lanes.take(1).remove(0);
        assert_eq!(run.first, 3);
        assert_eq!(run.superseded.as_ref().map(|held| held.first), Some(1));
        assert_eq!(lanes.len(), 4);
        let revived = run.superseded.map(|held| *held).expect("there is");
        if fails {
            lanes.revive("a", revived)
        } else {
            lanes.finished("a")
        }
        let mut rest = Vec::new();
        while let Some((key, run)) = lanes.take(1).pop() {
            rest.push(run.first);
            lanes.finished(&key);
        }
        assert_eq!(rest, if fails { vec![4, 1, 2] } else { vec![4, 2] });
        assert!(lanes.is_empty());
    }
}

#[test]
fn a_lane_has_the_class_of_its_most_urgent_entry() {
    let mut lanes = Lanes::new(10);
    let campaign = Turn { class: Class::CAMPAIGN, ..Turn::default() };
    lanes.offer("a", 1, campaign, at(0)).expect("room");
    lanes.offer("b", 1, campaign, at(0)).expect("room");
    plain(&mut lanes, "b", 2);
    plain(&mut lanes, "c", 1);
    // The live entry of `b` stands behind one of a campaign, which it takes along.
    let order: Vec<_> = firsts(lanes.take(9)).into_iter().map(|(key, _)| key).collect();
    assert_eq!(order, ["b", "c", "a"]);
}

#[test]
fn a_lane_is_of_the_party_of_its_latest_entry() {
    let mut lanes = Lanes::new(100);
    let [early, late] = [Party::of("channel"), Party::of("router")];
    let offer = |lanes: &mut Lanes<u32>, party| {
        let turn = Turn { party, ..Turn::default() };
        assert_eq!(lanes.offer("a", 0, turn, at(0)), Ok(Offered::Waits));
    };
    offer(&mut lanes, early);
    let (key, _) = lanes.take(1).remove(0);
    offer(&mut lanes, early);
    assert_eq!((lanes.held_by(early), lanes.held_by(late)), (2, 0));
    // Its party is learned while the lane is never empty.
    offer(&mut lanes, late);
    assert_eq!((lanes.held_by(early), lanes.held_by(late)), (0, 3));
    offer(&mut lanes, Party::NOBODY);
    lanes.finished(&key);
    assert_eq!((lanes.held_by(early), lanes.held_by(late), lanes.len()), (0, 3, 3));
    let (key, _) = lanes.take(1).remove(0);
    assert_eq!(lanes.abandon(&key).len(), 2);
    assert_eq!((lanes.held_by(late), lanes.len()), (0, 0));
}
