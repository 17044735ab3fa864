use flowsdk_core::id::RouterId;

use super::super::LoginRange;
use super::*;

const SAO_PAULO: &str = "America/Sao_Paulo";
const BERLIN: &str = "Europe/Berlin";

fn agent(tz: &str, ranges: &[(u8, &str, &str)]) -> AgentSchedule {
    let range = |&(weekday, from, to): &(u8, &str, &str)| LoginRange {
        weekday,
        from: from.to_owned(),
        to: to.to_owned(),
    };
    AgentSchedule {
        router_id: RouterId::parse("r1").expect("an id"),
        tz: tz.to_owned(),
        schedule: LoginSchedule(ranges.iter().map(range).collect()),
    }
}

fn at(utc: &str) -> Timestamp {
    let moment: jiff::Timestamp = utc.parse().expect("a moment");
    Timestamp::from_millis(moment.as_millisecond())
}

/// Rows of one schedule: a moment in UTC, and whether it is inside.
fn check(tz: &str, ranges: &[(u8, &str, &str)], rows: &[(&str, bool)]) {
    let agent = agent(tz, ranges);
    for (utc, inside) in rows {
        assert_eq!(admits(std::slice::from_ref(&agent), at(utc)), *inside, "{ranges:?} in {tz} at {utc}");
    }
}

#[test]
fn a_range_of_one_day_in_the_routers_time() {
    // Sao Paulo is three hours behind UTC. 2026-11-20 is a Friday.
    check(
        SAO_PAULO,
        &[(5, "08:00", "18:00")],
        &[
            ("2026-11-20T10:59:59.999Z", false),
            ("2026-11-20T11:00:00Z", true),
            ("2026-11-20T20:59:59.999Z", true),
            ("2026-11-20T21:00:00Z", false),
            ("2026-11-19T15:00:00Z", false),
            ("2026-11-21T15:00:00Z", false),
        ],
    );
}

#[test]
fn a_range_past_midnight_belongs_to_the_day_it_begins_on() {
    // Saturday night into Sunday, the day that is 0.
    check(
        SAO_PAULO,
        &[(6, "22:00", "06:00")],
        &[
            ("2026-11-22T00:59:00Z", false),
            ("2026-11-22T01:00:00Z", true),
            ("2026-11-22T02:59:59Z", true),
            ("2026-11-22T03:00:00Z", true),
            ("2026-11-22T08:59:59Z", true),
            ("2026-11-22T09:00:00Z", false),
            // Sunday night is another range, and Saturday morning belongs to Friday.
            ("2026-11-23T01:30:00Z", false),
            ("2026-11-21T05:00:00Z", false),
        ],
    );
}

#[test]
fn midnight_as_an_end_and_equal_times() {
    check(
        SAO_PAULO,
        &[(0, "18:00", "00:00")],
        &[
            ("2026-11-22T20:59:00Z", false),
            ("2026-11-22T21:00:00Z", true),
            ("2026-11-23T02:59:59Z", true),
            ("2026-11-23T03:00:00Z", false),
        ],
    );
    check(
        "UTC",
        &[(1, "00:00", "00:00")],
        &[
            ("2026-11-22T23:59:59Z", false),
            ("2026-11-23T00:00:00Z", true),
            ("2026-11-23T23:59:59Z", true),
            ("2026-11-24T00:00:00Z", false),
        ],
    );
    check(
        "UTC",
        &[(1, "09:00", "09:00")],
        &[
            ("2026-11-23T08:59:59Z", false),
            ("2026-11-23T09:00:00Z", true),
            ("2026-11-24T08:59:59Z", true),
            ("2026-11-24T09:00:00Z", false),
        ],
    );
}

#[test]
fn clocks_that_go_forward() {
    // Berlin, Sunday 2026-03-29: 02:00 is 03:00, at 01:00 UTC.
    check(
        BERLIN,
        &[(0, "01:00", "03:30")],
        &[
            ("2026-03-28T23:59:59Z", false),
            ("2026-03-29T00:00:00Z", true),
            ("2026-03-29T00:59:59Z", true),
            ("2026-03-29T01:00:00Z", true),
            ("2026-03-29T01:29:59Z", true),
            ("2026-03-29T01:30:00Z", false),
        ],
    );
    // A range within the hour that does not come lets nobody in, one that begins in it begins after it.
    check(
        BERLIN,
        &[(0, "02:10", "02:50")],
        &[("2026-03-29T00:59:59Z", false), ("2026-03-29T01:00:00Z", false), ("2026-03-29T01:15:00Z", false)],
    );
    check(
        BERLIN,
        &[(0, "02:30", "04:00")],
        &[("2026-03-29T00:59:59Z", false), ("2026-03-29T01:00:00Z", true), ("2026-03-29T02:00:00Z", false)],
    );
}

#[test]
fn clocks_that_go_back() {
    // Berlin, Sunday 2026-10-25: 03:00 is 02:00 again, at 01:00 UTC; 02:15 comes at 00:15 and at 01:15.
    check(
        BERLIN,
        &[(0, "02:00", "02:30")],
        &[
            ("2026-10-24T23:59:59Z", false),
            ("2026-10-25T00:00:00Z", true),
            ("2026-10-25T00:15:00Z", true),
            ("2026-10-25T00:30:00Z", false),
            ("2026-10-25T00:59:59Z", false),
            ("2026-10-25T01:00:00Z", true),
            ("2026-10-25T01:15:00Z", true),
            ("2026-10-25T01:30:00Z", false),
        ],
    );
    // Past midnight across the change.
    check(
        BERLIN,
        &[(6, "22:00", "06:00")],
        &[
            ("2026-10-24T19:59:59Z", false),
            ("2026-10-24T20:00:00Z", true),
            ("2026-10-25T04:59:59Z", true),
            ("2026-10-25T05:00:00Z", false),
        ],
    );
}

#[test]
fn a_zone_that_had_summer_time_once() {
    // Sao Paulo had it until 2019: 2018-12-07 (a Friday) was two hours behind UTC, 2019-12-06 three.
    check(
        SAO_PAULO,
        &[(5, "08:00", "09:00")],
        &[
            ("2018-12-07T10:30:00Z", true),
            ("2018-12-07T11:30:00Z", false),
            ("2019-12-06T10:30:00Z", false),
            ("2019-12-06T11:30:00Z", true),
        ],
    );
}

#[test]
fn who_may_always() {
    let now = at("2026-11-20T11:00:00Z");
    let closed = || agent("UTC", &[(0, "08:00", "09:00")]);
    assert!(admits(&[], now), "no agent");
    assert!(admits(&[agent(SAO_PAULO, &[])], now), "no ranges");
    assert!(admits(&[agent("Nowhere/Atlantis", &[])], now), "no ranges need no time zone");
    assert!(!admits(&[closed(), closed()], now));
    assert!(admits(&[closed(), agent("UTC", &[(5, "10:00", "12:00")])], now), "one router is enough");
    assert!(admits(&[closed(), agent("UTC", &[])], now));
}

#[test]
fn what_cannot_be_read_lets_nobody_in() {
    let all_week = |from: &str| (0..7).map(|day| (day, from.to_owned())).collect::<Vec<_>>();
    let now = at("2026-11-20T11:00:00Z");
    let ranges = all_week("00:00");
    let ranges: Vec<_> = ranges.iter().map(|(day, from)| (*day, from.as_str(), "00:00")).collect();
    assert!(admits(&[agent("UTC", &ranges)], now));
    assert!(!admits(&[agent("Nowhere/Atlantis", &ranges)], now));
    assert!(!admits(&[agent("", &ranges)], now));
    assert!(!admits(&[agent("UTC", &[(5, "25:00", "23:00"), (9, "00:00", "00:00"), (5, "", "x")])], now));
    // A range beside it still counts.
    assert!(admits(&[agent("UTC", &[(5, "25:00", "23:00"), (5, "11:00", "12:00")])], now));
}
