//! Whether an agent may log in now (rulings A8).

use flowsdk_core::login_schedule::LoginBounds;
use flowsdk_core::time::Timestamp;
use jiff::tz::TimeZone;

use super::{AgentSchedule, LoginSchedule};

/// Returns whether a user with these schedules may log in to the desk at `now`. A user who is not an agent may, and
/// an agent of several routers may when one of them lets them.
///
/// A stored schedule that cannot be read (an unknown time zone, a text that is not a time) lets nobody in: a broken
/// lock stays shut. The agent still has the ordinary login, and the operator sees the warning in the log. An empty
/// schedule needs no time zone.
pub fn admits(schedules: &[AgentSchedule], now: Timestamp) -> bool {
    schedules.is_empty() || schedules.iter().any(|agent| admits_one(agent, now))
}

fn admits_one(agent: &AgentSchedule, now: Timestamp) -> bool {
    let LoginSchedule(ranges) = &agent.schedule;
    if ranges.is_empty() {
        return true;
    }
    let Ok(zone) = TimeZone::get(&agent.tz) else {
        tracing::warn!(router = agent.router_id.as_str(), tz = agent.tz, "a router's time zone is unknown");
        return false;
    };
    let local = now.to_jiff().to_zoned(zone);
    let weekday = local.weekday().to_sunday_zero_offset().unsigned_abs();
    let minute = u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
    ranges.iter().any(|range| match range.bounds() {
        Ok(range) => contains(range, weekday, minute),
        Err(field) => {
            tracing::warn!(router = agent.router_id.as_str(), field, "a login range cannot be read");
            false
        }
    })
}

/// By the clock on the wall: an hour that comes twice is twice inside or outside, one that is skipped is neither.
/// A range begins with `from` and ends before `to`; with `to` not after `from` it ends on the day after, so that
/// equal times are 24 hours.
fn contains(range: LoginBounds, weekday: u8, minute: u16) -> bool {
    let LoginBounds { weekday: first, from, to } = range;
    let begins_today = weekday == first && minute >= from;
    if from < to {
        return begins_today && minute < to;
    }
    let began_yesterday = weekday == (first + 1) % 7;
    begins_today || (began_yesterday && minute < to)
}

#[cfg(test)]
mod tests;
