//! How many sessions are served at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// From so many sessions on, they wait for each other before they are written.
const MANY: usize = 16;
/// How long they wait. No contact notices it beside the time of a model.
const GATHERING: Duration = Duration::from_millis(2);

/// The number of sessions that are served now.
#[derive(Debug, Default)]
pub(super) struct Serving(AtomicUsize);

/// A session that is served until this is dropped.
#[derive(Debug)]
pub(super) struct ServedSession<'a>(&'a Serving);

impl Serving {
    /// Counts one more session until what is returned is dropped.
    pub(super) fn enter(&self) -> ServedSession<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        ServedSession(self)
    }

    /// Returns how long what is to be written waits for that of other sessions.
    pub(super) fn gathering(&self) -> Duration {
        if self.0.load(Ordering::Relaxed) < MANY { Duration::ZERO } else { GATHERING }
    }
}

impl Drop for ServedSession<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sessions_wait_for_each_other() {
        let serving = Serving::default();
        let mut served: Vec<_> = (1..MANY).map(|_| serving.enter()).collect();
        assert_eq!(serving.gathering(), Duration::ZERO);
        served.push(serving.enter());
        assert_eq!(serving.gathering(), GATHERING);
        served.pop();
        assert_eq!(serving.gathering(), Duration::ZERO);
    }
}
