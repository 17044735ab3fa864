//! When a delivery is tried again.

use std::time::Duration;

/// For how long a webhook may fail before it is paused.
pub const GIVE_UP_AFTER: Duration = Duration::from_hours(24);

/// For how long deliveries are kept after their event: so long they can be replayed.
pub const KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// The pauses after the first attempt and those that follow: a day in all.
const PAUSES: [Duration; 10] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_mins(30),
    Duration::from_hours(1),
    Duration::from_hours(2),
    Duration::from_hours(4),
    Duration::from_hours(6),
    Duration::from_hours(10),
];

/// Returns how long to wait after so many attempts; `None` when there were enough.
pub fn pause_after(attempts: i64) -> Option<Duration> {
    let nth = usize::try_from(attempts).ok()?.checked_sub(1)?;
    PAUSES.get(nth).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_for_a_day() {
        let pauses: Vec<Duration> = (1..).map_while(pause_after).collect();
        assert_eq!(pauses.len(), PAUSES.len());
        assert!(pauses.is_sorted());
        let all: Duration = pauses.iter().sum();
        assert!(all > Duration::from_hours(23) && all < Duration::from_hours(25), "{all:?}");
        for none in [0, -1, 11, i64::MAX] {
            assert_eq!(pause_after(none), None, "{none}");
        }
    }
}
