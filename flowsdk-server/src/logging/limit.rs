//! Keeps outages and strangers from filling the log: beyond a number, the lines of one place in the program are counted.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flowsdk_core::fault::DAMAGED;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::api::STRANGERS;

/// Most warnings and errors of one place within a [`WINDOW`].
const LINES: u32 = 20;
/// Most requests of strangers that are logged within a [`WINDOW`]: anybody can make as many as they like. Some 200 MB a
/// day under an attack.
const REQUESTS: u32 = 100;
/// The time for which lines are counted, and how often those left out are reported.
const WINDOW: Duration = Duration::from_secs(10);

/// A layer that lets only so many warnings and errors of each place in the program through, and only so many requests of
/// strangers. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(super) struct LineLimit(Arc<Mutex<HashMap<Identifier, Place>>>);

/// A line of the program that logs.
#[derive(Debug)]
struct Place {
    metadata: &'static Metadata<'static>,
    began: Instant,
    lines: u32,
    left_out: u64,
}

/// Lines of one place that were not logged.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) target: &'static str,
    pub(super) line: u32,
    pub(super) lines: u64,
}

impl LineLimit {
    fn admits(&self, metadata: &'static Metadata<'static>, now: Instant) -> bool {
        let Some(most) = most_lines(metadata) else { return true };
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(metadata.callsite()).or_insert_with(|| Place {
            metadata,
            began: now,
            lines: 0,
            left_out: 0,
        });
        if now.saturating_duration_since(place.began) >= WINDOW {
            (place.began, place.lines) = (now, 0);
        }
        if place.lines < most {
            place.lines += 1;
            return true;
        }
        place.left_out += 1;
        false
    }

    /// Returns the lines that were left out since the last call.
    fn take_left_out(&self) -> Vec<LeftOut> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let some = places.values_mut().filter(|place| place.left_out > 0);
        some.map(|place| LeftOut {
            target: place.metadata.target(),
            line: place.metadata.line().unwrap_or_default(),
            lines: std::mem::take(&mut place.left_out),
        })
        .collect()
    }

    /// Reports lines that were left out, on a thread that lives as long as the process.
    pub(super) fn report(&self) {
        let limit = self.clone();
        let reporting = thread::Builder::new().name("log-limit".to_owned()).spawn(move || {
            loop {
                thread::sleep(WINDOW);
                for LeftOut { target, line, lines } in limit.take_left_out() {
                    metrics::counter!("flowsdk_log_lines_left_out").increment(lines);
                    tracing::info!(
                        place = format!("{target}:{line}"),
                        lines,
                        "more lines like these were left out"
                    );
                }
            }
        });
        if let Err(error) = reporting {
            tracing::warn!(%error, "lines that are left out of the log are not reported");
        }
    }
}

/// Returns how many lines of a place are logged within a [`WINDOW`]; `None` where there is no limit.
fn most_lines(metadata: &Metadata<'_>) -> Option<u32> {
    if *metadata.level() <= Level::WARN {
        Some(LINES)
    } else {
        (metadata.target() == STRANGERS).then_some(REQUESTS)
    }
}

impl<S: Subscriber> Layer<S> for LineLimit {
    fn event_enabled(&self, event: &Event<'_>, _context: Context<'_, S>) -> bool {
        !tells_of_damage(event) && self.admits(event.metadata(), Instant::now())
    }
}

/// Returns whether a warning is one more consequence of a damaged database. The server says once that it is damaged, and
/// nothing that anybody tries until it is restored can end otherwise.
fn tells_of_damage(event: &Event<'_>) -> bool {
    let mut search = Search(false);
    if *event.metadata().level() <= Level::WARN {
        event.record(&mut search);
    }
    search.0
}

/// Whether a field says [`DAMAGED`].
struct Search(bool);

impl Visit for Search {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        self.0 = self.0 || format!("{value:?}").contains(DAMAGED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers the metadata of the events it sees.
    #[derive(Clone, Default)]
    struct Seen(Arc<Mutex<Vec<&'static Metadata<'static>>>>);

    impl<S: Subscriber> Layer<S> for Seen {
        fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
            self.0.lock().expect("a lock").push(event.metadata());
        }
    }

    fn places() -> Vec<&'static Metadata<'static>> {
        use tracing_subscriber::layer::SubscriberExt as _;
        let seen = Seen::default();
        let subscriber = tracing_subscriber::registry().with(seen.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!("the database is away");
            tracing::error!("a visitor waits");
            tracing::info!("a line that was asked for");
            tracing::info!(target: STRANGERS, "request");
        });
        let places = seen.0.lock().expect("a lock");
        places.clone()
    }

    #[test]
    fn consequences_of_damage_are_not_told() {
        use flowsdk_core::fault::{Chain, StorageError};
        use tracing_subscriber::layer::SubscriberExt as _;
        let seen = Seen::default();
        let subscriber = tracing_subscriber::registry().with(LineLimit::default()).with(seen.clone());
        tracing::subscriber::with_default(subscriber, || {
            let damaged = StorageError::Damaged("a malformed page".into());
            tracing::warn!(error = %Chain(&damaged), "a turn was not stored");
            let away = StorageError::Unavailable("away".into());
            tracing::warn!(error = %Chain(&away), "a turn was not stored");
        });
        assert_eq!(seen.0.lock().expect("a lock").len(), 1);
    }

    #[test]
    fn an_outage_is_told_by_some_lines_and_a_number() {
        let (limit, began) = (LineLimit::default(), Instant::now());
        let [away, waits, info, request] = places()[..] else { panic!("four places") };
        let admitted = |place, count: usize, now| (0..count).filter(|_| limit.admits(place, now)).count();
        assert_eq!(admitted(away, 1_000, began), 20);
        assert_eq!(admitted(waits, 10, began), 10, "each place has lines of its own");
        assert_eq!(admitted(info, 1_000, began), 1_000, "most lines have no limit");
        assert_eq!(admitted(request, 101, began), 100, "strangers ask as often as they like");
        let late = began + WINDOW;
        assert_eq!(admitted(away, 25, late), 20, "and again when the time is over");
        let left_out = limit.take_left_out();
        let mut lines: Vec<_> = left_out.iter().map(|place| (place.target, place.lines)).collect();
        lines.sort_unstable_by_key(|(_, lines)| *lines);
        assert_eq!(lines, [(STRANGERS, 1), (module_path!(), 985)]);
        assert_eq!(limit.take_left_out(), []);
    }
}
