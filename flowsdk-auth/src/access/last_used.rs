//! When API clients were last used, gathered between two writes.

use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowsdk_core::id::ApiClientId;
use flowsdk_core::time::Timestamp;

/// How exact the stored moment is: a client is written at most once in this time.
const EXACT_TO: Duration = Duration::from_secs(60);
/// Most clients gathered. Beyond it one is noted by a later request of its own.
const CAPACITY: usize = 10_000;

/// Moments on their way to storage.
#[derive(Debug, Default)]
pub(super) struct LastUsed(Mutex<HashMap<ApiClientId, Timestamp>>);

impl LastUsed {
    fn gathered(&self) -> MutexGuard<'_, HashMap<ApiClientId, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a use at `now` of a client whose last one is stored as `stored`.
    pub(super) fn note(&self, client: &ApiClientId, stored: Option<Timestamp>, now: Timestamp) {
        if stored.is_some_and(|stored| now < stored + EXACT_TO) {
            return;
        }
        let mut gathered = self.gathered();
        if let Some(noted) = gathered.get_mut(client) {
            *noted = now.max(*noted);
        } else if gathered.len() < CAPACITY {
            gathered.insert(client.clone(), now);
        }
    }

    /// Takes out the gathered entries, in the order of the ids.
    pub(super) fn take(&self) -> Vec<(ApiClientId, Timestamp)> {
        let mut taken: Vec<_> = mem::take(&mut *self.gathered()).into_iter().collect();
        taken.sort_unstable();
        taken
    }

    /// Puts back the entries that could not be written.
    pub(super) fn put_back(&self, taken: Vec<(ApiClientId, Timestamp)>) {
        for (client, used) in taken {
            self.note(&client, None, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_client_is_noted_once_a_minute() {
        let client = ApiClientId::parse("c1").expect("an id");
        let last_used = LastUsed::default();
        for (stored, now, noted) in [
            (None, 0, true),
            (Some(0), 0, false),
            (Some(0), 59, false),
            (Some(0), 60, true),
            // The clock stepped back.
            (Some(100), 40, false),
        ] {
            last_used.note(&client, stored.map(at), at(now));
            let expected = if noted { vec![(client.clone(), at(now))] } else { vec![] };
            assert_eq!(last_used.take(), expected, "{stored:?} {now}");
        }
    }

    #[test]
    fn the_latest_use_counts_also_after_a_failed_write() {
        let client = ApiClientId::parse("c1").expect("an id");
        let last_used = LastUsed::default();
        last_used.note(&client, None, at(1));
        let taken = last_used.take();
        last_used.note(&client, None, at(9));
        last_used.put_back(taken);
        assert_eq!(last_used.take(), [(client, at(9))]);
    }

    #[test]
    fn the_number_of_clients_is_bounded() {
        let last_used = LastUsed::default();
        for n in 0..CAPACITY + 10 {
            last_used.note(&ApiClientId::parse(format!("c{n}")).expect("an id"), None, at(1));
        }
        assert_eq!(last_used.take().len(), CAPACITY);
    }
}
