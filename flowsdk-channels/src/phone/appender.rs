//! Appends of deliveries that arrive together, in one write.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowsdk_core::fault::Chain;
use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry};
use tokio::sync::oneshot;

/// Most deliveries that wait for a write. The provider sends those beyond it again.
const MOST_WAITING: usize = 8_192;
/// Most entries of one write, unless one delivery alone has more.
const MOST: usize = 512;

/// Appends to the streams. While a write is under way, what arrives gathers for the next one.
#[derive(Debug)]
pub(super) struct Appender {
    broker: Arc<dyn Broker>,
    waiting: Mutex<Vec<Waiting>>,
    /// Held by whoever writes.
    turn: tokio::sync::Mutex<()>,
}

/// Entries, and where their outcome goes: whether they are durable, or why not.
#[derive(Debug)]
struct Waiting {
    entries: Vec<NewEntry>,
    done: oneshot::Sender<Result<(), String>>,
}

impl Appender {
    pub(super) fn new(broker: Arc<dyn Broker>) -> Self {
        Self { broker, waiting: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// Appends entries, all or none. It returns when they are durable.
    pub(super) async fn append(&self, entries: Vec<NewEntry>) -> Result<(), BrokerError> {
        let (done, mut outcome) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if waiting.len() >= MOST_WAITING {
                return Err(BrokerError::Unavailable("too many deliveries wait to be written".into()));
            }
            waiting.push(Waiting { entries, done });
        }
        let turn = self.turn.lock().await;
        loop {
            let failed = |reason: String| Err(BrokerError::Unavailable(reason.into()));
            match outcome.try_recv() {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(reason)) => return failed(reason),
                // The one who wrote it has ended before it had the outcome, as a request does whose client is gone.
                Err(oneshot::error::TryRecvError::Closed) => {
                    return failed("the write was given up".to_owned());
                }
                Err(oneshot::error::TryRecvError::Empty) => self.write(&turn).await,
            }
        }
    }

    /// Writes what has waited the longest.
    async fn write(&self, _turn: &tokio::sync::MutexGuard<'_, ()>) {
        let mut batch = {
            let mut waiting = self.waiting();
            // Those whose request has ended are delivered again.
            waiting.retain(|one| !one.done.is_closed());
            let mut count = 0;
            let fits = waiting.iter().take_while(|one| {
                count += one.entries.len();
                count <= MOST
            });
            let take = fits.count().max(1).min(waiting.len());
            waiting.drain(..take).collect::<Vec<_>>()
        };
        if batch.is_empty() {
            return;
        }
        let entries: Vec<NewEntry> =
            batch.iter_mut().flat_map(|one| std::mem::take(&mut one.entries)).collect();
        let outcome = self.broker.publish(&entries).await.map_err(|error| Chain(&error).to_string());
        if outcome.is_err() {
            // What waits would fail after as long a wait each.
            batch.append(&mut self.waiting());
        }
        for one in batch {
            // Whoever is gone does not need it.
            drop(one.done.send(outcome.clone()));
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use async_trait::async_trait;
    use flowsdk_core::stream::broker::StreamReader;
    use flowsdk_core::stream::topic::{StreamPartition, TopicName};
    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    use super::*;

    /// Writes when it is let, and fails where an entry says so.
    #[derive(Debug)]
    struct Slow {
        let_in: Semaphore,
        writes: Mutex<Vec<Vec<String>>>,
    }

    #[async_trait]
    impl Broker for Slow {
        fn partitions(&self) -> u32 {
            1
        }

        async fn publish(&self, entries: &[NewEntry]) -> Result<(), BrokerError> {
            self.let_in.acquire().await.expect("open").forget();
            let keys: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();
            let fails = keys.iter().any(|key| key == "bad");
            self.writes.lock().expect("a lock").push(keys);
            if fails { Err(BrokerError::Unavailable("away".into())) } else { Ok(()) }
        }

        async fn open(
            &self,
            _: StreamPartition,
            _: &str,
            _: &str,
        ) -> Result<Box<dyn StreamReader>, BrokerError> {
            pending().await
        }

        async fn ack(&self, _: StreamPartition, _: &str, _: &[String]) -> Result<(), BrokerError> {
            Ok(())
        }

        async fn backlog(&self, _: StreamPartition, _: &str) -> Result<u64, BrokerError> {
            Ok(0)
        }
    }

    fn appender() -> (Arc<Appender>, Arc<Slow>) {
        let broker = Arc::new(Slow { let_in: Semaphore::new(0), writes: Mutex::default() });
        (Arc::new(Appender::new(Arc::clone(&broker) as _)), broker)
    }

    fn entries(keys: &[&str]) -> Vec<NewEntry> {
        let entry = |key: &&str| NewEntry {
            topic: TopicName::Incoming,
            key: (*key).to_owned(),
            payload: String::new(),
        };
        keys.iter().map(entry).collect()
    }

    /// Appends, in the order of the calls.
    async fn start(
        appender: &Arc<Appender>,
        keys: &'static [&'static str],
    ) -> JoinSet<Result<(), BrokerError>> {
        let (appender, mut task) = (Arc::clone(appender), JoinSet::new());
        task.spawn(async move { appender.append(entries(keys)).await });
        tokio::time::sleep(Duration::from_millis(1)).await;
        task
    }

    #[tokio::test(start_paused = true)]
    async fn what_arrives_during_a_write_is_written_together() {
        let (appender, broker) = appender();
        let mut tasks = Vec::new();
        for keys in [&["a"][..], &["b", "c"], &["bad"], &["d"]] {
            tasks.push(start(&appender, keys).await);
        }
        broker.let_in.add_permits(2);
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.join_all().await[0].is_ok());
        }
        // Nobody knows which part of a write failed, so all of it comes again.
        assert_eq!(outcomes, [true, false, false, false]);
        assert_eq!(*broker.writes.lock().expect("a lock"), [vec!["a"], vec!["b", "c", "bad", "d"]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_that_is_gone_takes_nobody_with_it_for_long() {
        let (appender, broker) = appender();
        let mut first = start(&appender, &["a"]).await;
        let second = start(&appender, &["b"]).await;
        first.shutdown().await;
        broker.let_in.add_permits(9);
        assert!(second.join_all().await[0].is_ok(), "it had not been taken up");
        let (third, fourth) = (start(&appender, &["c"]).await, start(&appender, &["d"]).await);
        assert!(third.join_all().await[0].is_ok() && fourth.join_all().await[0].is_ok());
        assert_eq!(*broker.writes.lock().expect("a lock"), [vec!["b"], vec!["c"], vec!["d"]]);
    }
}
