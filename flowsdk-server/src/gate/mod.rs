//! Places that callers share in turns: a bounded number at work, a bounded number waiting, no caller with more than
//! half of either while another wants one.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowsdk_core::fair_queue::{FairLimits, FairQueue, Refused};
use tokio::sync::oneshot;

/// Who asks for a place. Callers with the same key share their part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(u64);

impl Key {
    /// The key of an id, or of something else that tells callers apart.
    pub(crate) fn of(it: &(impl Hash + ?Sized)) -> Self {
        let mut hasher = DefaultHasher::new();
        it.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The sizes of a gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GateConfig {
    /// Places.
    pub places: usize,
    /// Most callers that wait; of one key at most half of them.
    pub waiting: usize,
    /// How long one of them waits.
    pub patience: Duration,
}

/// Why a caller has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The key has its part of those that wait already.
    Greedy,
    /// Too many wait, or no place became free in time.
    Busy,
}

/// Hands out the places.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    patience: Duration,
}

type Queue = FairQueue<Key, oneshot::Sender<Place>>;

impl Gate {
    /// Every place is free.
    pub(crate) fn new(config: GateConfig) -> Self {
        let GateConfig { places, waiting, patience } = config;
        let places = places.max(1);
        let waiting_of_one = waiting.div_ceil(2);
        let queue = FairQueue::new(FairLimits { places, places_of_one: places, waiting, waiting_of_one });
        Self(Arc::new(Shared { queue: Mutex::new(queue), patience }))
    }

    /// Waits for a place, which is free again when it is dropped.
    pub(crate) async fn enter(&self, key: Key) -> Result<Place, Refusal> {
        let (sender, place) = oneshot::channel();
        {
            let mut queue = self.lock();
            // A caller that went away or lost its patience keeps no place of those that wait.
            queue.retain(|waiting| !waiting.is_closed());
            queue.push(key, sender).map_err(|refused| match refused {
                Refused::KeyFull(_) => Refusal::Greedy,
                Refused::Full(_) => Refusal::Busy,
            })?;
        }
        self.hand_out();
        match tokio::time::timeout(self.0.patience, place).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Refusal::Busy),
        }
    }

    /// Gives the free places to the callers whose turn it is.
    fn hand_out(&self) {
        loop {
            let next = self.lock().start();
            let Some((key, sender)) = next else { return };
            // A caller that has gone drops the place here, outside of the lock, and the next one gets it.
            drop(sender.send(Place { gate: self.clone(), key }));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of the places.
#[derive(Debug)]
pub(crate) struct Place {
    gate: Gate,
    key: Key,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.gate.lock().end(&self.key);
        self.gate.hand_out();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const A: Key = Key(1);
    const B: Key = Key(2);

    fn gate() -> Gate {
        Gate::new(GateConfig { places: 2, waiting: 4, patience: Duration::from_secs(60) })
    }

    #[tokio::test]
    async fn another_caller_does_not_wait_behind_a_crowd() {
        let gate = gate();
        let (first, _second) = (gate.enter(A).await.expect("free"), gate.enter(A).await.expect("free"));
        let mut third = Box::pin(gate.enter(A));
        assert!(third.as_mut().now_or_never().is_none());
        let mut other = Box::pin(gate.enter(B));
        assert!(other.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.as_mut().now_or_never().is_none(), "A has half of the places");
        let other = other.now_or_never().expect("free").expect("B's turn");
        drop(other);
        assert!(third.now_or_never().expect("free").is_ok(), "nobody else waits");
    }

    #[tokio::test]
    async fn those_that_have_gone_lose_their_turn_and_no_place_is_lost() {
        let gate = gate();
        let held = (gate.enter(A).await.expect("free"), gate.enter(A).await.expect("free"));
        let mut gone = Box::pin(gate.enter(B));
        assert!(gone.as_mut().now_or_never().is_none());
        drop(gone);
        drop(held);
        let again = (gate.enter(A).now_or_never(), gate.enter(B).now_or_never());
        assert!(matches!(again, (Some(Ok(_)), Some(Ok(_)))));
    }

    #[tokio::test]
    async fn half_of_those_that_wait_are_of_one_key_at_most() {
        let gate = gate();
        let _held = (gate.enter(A).await.expect("free"), gate.enter(A).await.expect("free"));
        let mut waiting: Vec<_> = (0..2).map(|_| Box::pin(gate.enter(A))).collect();
        assert!(waiting.iter_mut().all(|caller| caller.as_mut().now_or_never().is_none()));
        assert_eq!(gate.enter(A).await.expect_err("two wait"), Refusal::Greedy);
        let mut others: Vec<_> = (0..2).map(|_| Box::pin(gate.enter(B))).collect();
        assert!(others.iter_mut().all(|caller| caller.as_mut().now_or_never().is_none()));
        assert_eq!(gate.enter(Key(3)).await.expect_err("four wait"), Refusal::Busy);
        others.pop();
        assert!(gate.enter(Key(3)).now_or_never().is_none(), "one of them has gone");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let gate = gate();
        let _held = (gate.enter(A).await.expect("free"), gate.enter(A).await.expect("free"));
        assert_eq!(gate.enter(B).await.expect_err("too long"), Refusal::Busy);
    }
}
