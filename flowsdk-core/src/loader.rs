//! Joins many lookups into one: lookups requested while a query runs become the next query.
//!
//! The query that answers a caller begins after their call, so an answer is never older than its question. A
//! hundred lookups at once cost two queries. Where the store can tell that nothing has changed since
//! ([`Load::generation`]), the answer of an earlier query serves as well, and is not older either.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::fault::StorageError;

/// Runs the queries of a [`Loader`].
#[async_trait]
pub trait Load<K, V>: Send + Sync {
    /// Returns the values of those of `keys` that have one. `keys` holds each key once.
    async fn load(&self, keys: &[K]) -> Result<HashMap<K, V>, StorageError>;

    /// Returns the [generation](crate::store::Store::generation) of the records; `None` when it cannot be told.
    fn generation(&self) -> Option<u64>;
}

/// Most lookups of one query.
const BATCH: usize = 128;
/// Most values that are kept while nothing changes.
const KEPT: usize = 10_000;

/// Gathers lookups. Values are cloned for everyone who asked, so they are usually an [`Arc`].
pub struct Loader<K, V>(Arc<Inner<K, V>>);

struct Inner<K, V> {
    load: Box<dyn Load<K, V>>,
    kept: Mutex<Kept<K, V>>,
    queue: Mutex<Queue<K, V>>,
}

/// The values found while the generation was this one.
struct Kept<K, V> {
    generation: u64,
    values: HashMap<K, V>,
}

struct Queue<K, V> {
    led: bool,
    waiting: Vec<(K, oneshot::Sender<Told<K, V>>)>,
}

enum Told<K, V> {
    Answer(Result<Option<V>, Arc<StorageError>>),
    Lead(Leadership<K, V>),
}

/// The right to run the next query. It passes on to somebody who waits when it is dropped, whatever became of
/// its holder.
struct Leadership<K, V>(Option<Arc<Inner<K, V>>>);

impl<K, V> fmt::Debug for Loader<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Loader")
    }
}

impl<K, V> Inner<K, V> {
    fn queue(&self) -> MutexGuard<'_, Queue<K, V>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> Drop for Leadership<K, V> {
    fn drop(&mut self) {
        let Some(inner) = self.0.take() else {
            return;
        };
        loop {
            let heir = {
                let mut queue = inner.queue();
                if queue.waiting.is_empty() {
                    queue.led = false;
                    return;
                }
                queue.waiting.remove(0).1
            };
            match heir.send(Told::Lead(Self(Some(Arc::clone(&inner))))) {
                Ok(()) => return,
                // The caller has gone; the right comes back and must not pass on by itself as well.
                Err(Told::Lead(mut returned)) => drop(returned.0.take()),
                Err(Told::Answer(_)) => {}
            }
        }
    }
}

impl<K, V> Loader<K, V>
where
    K: Clone + Eq + Hash + Send + Sync,
    V: Clone + Send + Sync,
{
    /// Creates a loader whose queries `load` runs, one at a time.
    pub fn new(load: impl Load<K, V> + 'static) -> Self {
        let queue = Mutex::new(Queue { led: false, waiting: Vec::new() });
        let kept = Mutex::new(Kept { generation: 0, values: HashMap::new() });
        Self(Arc::new(Inner { load: Box::new(load), kept, queue }))
    }

    /// Returns the value of `key`, if it has one.
    ///
    /// # Errors
    /// The failure of the query.
    pub async fn get(&self, key: K) -> Result<Option<V>, Arc<StorageError>> {
        if let Some(value) = self.kept(&key) {
            return Ok(Some(value));
        }
        let mut leadership = None;
        loop {
            let (sender, mut answer) = oneshot::channel();
            {
                let mut queue = self.0.queue();
                if !queue.led {
                    queue.led = true;
                    leadership = Some(Leadership(Some(Arc::clone(&self.0))));
                }
                // The leader is first, so that their own query answers them.
                let place = if leadership.is_some() { 0 } else { queue.waiting.len() };
                queue.waiting.insert(place, (key.clone(), sender));
            }
            if let Some(leadership) = leadership.take() {
                self.query().await;
                if let Ok(Told::Answer(found)) = answer.try_recv() {
                    drop(leadership);
                    return found;
                }
            }
            match answer.await {
                Ok(Told::Answer(found)) => return found,
                Ok(Told::Lead(passed_on)) => leadership = Some(passed_on),
                // The leader went away in the middle of their query.
                Err(_) => {}
            }
        }
    }

    /// Returns the value of an earlier query, if nothing has changed since.
    fn kept(&self, key: &K) -> Option<V> {
        let generation = self.0.load.generation()?;
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation == generation { kept.values.get(key).cloned() } else { None }
    }

    fn keep(&self, generation: u64, found: &HashMap<K, V>) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation != generation || kept.values.len() + found.len() > KEPT {
            kept.generation = generation;
            kept.values.clear();
        }
        kept.values.extend(found.iter().map(|(key, value)| (key.clone(), value.clone())));
    }

    /// Answers those who wait now.
    async fn query(&self) {
        let batch: Vec<_> = {
            let mut queue = self.0.queue();
            let rest = if queue.waiting.len() > BATCH { queue.waiting.split_off(BATCH) } else { Vec::new() };
            mem::replace(&mut queue.waiting, rest)
        };
        let keys: HashSet<&K> = batch.iter().map(|(key, _)| key).collect();
        let keys: Vec<K> = keys.into_iter().cloned().collect();
        // Before the query: a commit during it makes its values void, perhaps for no reason.
        let generation = self.0.load.generation();
        let found = self.0.load.load(&keys).await.map_err(Arc::new);
        if let (Some(generation), Ok(values)) = (generation, &found) {
            self.keep(generation, values);
        }
        for (key, waiting) in batch {
            let answer = match &found {
                Ok(values) => Ok(values.get(&key).cloned()),
                Err(error) => Err(Arc::clone(error)),
            };
            // A caller who has gone wants no answer.
            let _gone = waiting.send(Told::Answer(answer));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;

    use super::*;

    /// Squares of odd numbers; a query takes a millisecond.
    #[derive(Clone, Default)]
    struct Squares {
        queries: Arc<AtomicU32>,
        /// 0 is none.
        generation: Arc<AtomicU32>,
        broken: bool,
    }

    #[async_trait]
    impl Load<u32, u32> for Squares {
        async fn load(&self, keys: &[u32]) -> Result<HashMap<u32, u32>, StorageError> {
            self.queries.fetch_add(1, Ordering::SeqCst);
            assert!(keys.len() <= BATCH && keys.iter().collect::<HashSet<_>>().len() == keys.len());
            tokio::time::sleep(Duration::from_millis(1)).await;
            if self.broken {
                return Err(StorageError::Corrupt { entity: "square", reason: "not round".to_owned() });
            }
            Ok(keys.iter().filter(|key| *key % 2 == 1).map(|key| (*key, key * key)).collect())
        }

        fn generation(&self) -> Option<u64> {
            match self.generation.load(Ordering::SeqCst) {
                0 => None,
                generation => Some(generation.into()),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lookups_share_queries() {
        let squares = Squares::default();
        let loader = Loader::new(squares.clone());
        let found = join_all((0..100).map(|n| loader.get(n % 10))).await;
        for (n, found) in (0..100).map(|n| n % 10).zip(found) {
            assert_eq!(found.expect("loaded"), (n % 2 == 1).then_some(n * n));
        }
        assert_eq!(squares.queries.load(Ordering::SeqCst), 2, "the first alone, then the rest");
        join_all((0..1_000).map(|n| loader.get(n))).await;
        assert!(squares.queries.load(Ordering::SeqCst) <= 2 + 1 + 1_000u32.div_ceil(128));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_found_holds_until_something_changes() {
        let squares = Squares::default();
        let loader = Loader::new(squares.clone());
        let queries = async |keys: &[u32]| {
            let before = squares.queries.load(Ordering::SeqCst);
            for &key in keys {
                assert_eq!(loader.get(key).await.expect("loaded"), (key % 2 == 1).then_some(key * key));
            }
            squares.queries.load(Ordering::SeqCst) - before
        };
        assert_eq!(queries(&[1, 1, 1]).await, 3, "only reading tells");
        squares.generation.store(1, Ordering::SeqCst);
        assert_eq!(queries(&[1, 1, 3, 1, 3]).await, 2);
        assert_eq!(queries(&[2, 2]).await, 2, "what is not there is looked for");
        squares.generation.store(2, Ordering::SeqCst);
        assert_eq!(queries(&[1, 1, 3]).await, 2);
        // A change while the query runs: the value answers whoever asked before, and nobody later.
        squares.generation.store(3, Ordering::SeqCst);
        let (found, ()) = futures_util::future::join(loader.get(5), async {
            tokio::task::yield_now().await;
            squares.generation.store(4, Ordering::SeqCst);
        })
        .await;
        assert_eq!(found.expect("loaded"), Some(25));
        assert_eq!(queries(&[5]).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn everyone_who_asked_hears_of_the_failure() {
        let loader = Loader::new(Squares { broken: true, ..Squares::default() });
        let found = join_all((0..5).map(|n| loader.get(n))).await;
        assert!(found.iter().all(Result::is_err));
    }

    /// Callers who go away, leading or not, at any moment, leave nobody waiting.
    #[tokio::test(start_paused = true)]
    async fn who_goes_away_takes_nobody_along() {
        let loader = Loader::new(Squares::default());
        for patience in 0..6_u64 {
            let impatient = (0..300u32).map(|n| {
                let limit = Duration::from_micros(u64::from(n) * patience * 7 % 2_500);
                tokio::time::timeout(limit, loader.get(n))
            });
            let patient = join_all((0..300u32).map(|n| loader.get(n)));
            let (_, answers) = tokio::time::timeout(
                Duration::from_secs(5),
                futures_util::future::join(join_all(impatient), patient),
            )
            .await
            .expect("nobody waits for ever");
            assert!(answers.iter().all(Result::is_ok));
        }
    }
}
