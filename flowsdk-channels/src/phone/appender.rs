//! Appends of deliveries that arrive together, in one write.

use std::sync::Arc;

use flowsdk_core::fault::Chain;
use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Most deliveries that wait for a write. The provider sends those beyond it again.
const MOST_WAITING: usize = 8_192;
/// Most entries of one write, unless a single delivery has more.
const MOST_ENTRIES: usize = 512;

/// Returns both ends of a queue of deliveries, whose entries go to `broker`.
pub(super) fn queue(broker: Arc<dyn Broker>) -> (Appender, IntakeWriter) {
    let (sender, waiting) = mpsc::channel(MOST_WAITING);
    (Appender { waiting: sender }, IntakeWriter { broker, waiting, next: None })
}

/// Appends to the streams by way of the [`IntakeWriter`].
#[derive(Debug)]
pub(super) struct Appender {
    waiting: mpsc::Sender<Waiting>,
}

/// Entries of a delivery, and where their outcome goes: whether they are durable, or why not.
#[derive(Debug)]
struct Waiting {
    entries: Vec<NewEntry>,
    done: oneshot::Sender<Result<(), String>>,
}

impl Appender {
    /// Appends entries, all or none. It returns when they are durable.
    pub(super) async fn append(&self, entries: Vec<NewEntry>) -> Result<(), BrokerError> {
        let failed = |reason: String| BrokerError::Unavailable(reason.into());
        let (done, outcome) = oneshot::channel();
        self.waiting.try_send(Waiting { entries, done }).map_err(|refused| match refused {
            TrySendError::Full(_) => failed("too many deliveries wait to be written".to_owned()),
            TrySendError::Closed(_) => failed("nothing is written any more".to_owned()),
        })?;
        let outcome = outcome.await.map_err(|_| failed("the write was given up".to_owned()))?;
        outcome.map_err(failed)
    }
}

/// Writes the deliveries that an intake has taken. While a write is under way, what arrives gathers for the next one.
#[derive(Debug)]
pub struct IntakeWriter {
    broker: Arc<dyn Broker>,
    waiting: mpsc::Receiver<Waiting>,
    /// The delivery that the last write had no room for.
    next: Option<Waiting>,
}

impl IntakeWriter {
    /// Writes until `stop` is cancelled, and then what waits. Later deliveries are refused, so `stop` comes after the end
    /// of the intake.
    pub async fn run(mut self, stop: &CancellationToken) {
        while let Some(Some(batch)) = stop.run_until_cancelled(self.gather()).await {
            self.write(batch).await;
        }
        self.waiting.close();
        while let Some(batch) = self.gather().await {
            self.write(batch).await;
        }
    }

    /// Returns the deliveries of the next write, in the order of their arrival, or nothing at the end of the queue. It
    /// waits for the first alone, so nothing is lost when it is given up.
    async fn gather(&mut self) -> Option<Vec<Waiting>> {
        let first = match self.next.take() {
            Some(next) => next,
            None => self.waiting.recv().await?,
        };
        let mut room = MOST_ENTRIES.saturating_sub(first.entries.len());
        let mut batch = vec![first];
        while let Ok(one) = self.waiting.try_recv() {
            let Some(left) = room.checked_sub(one.entries.len()) else {
                self.next = Some(one);
                break;
            };
            room = left;
            batch.push(one);
        }
        Some(batch)
    }

    async fn write(&mut self, mut batch: Vec<Waiting>) {
        // Those whose request has ended are delivered again.
        batch.retain(|one| !one.done.is_closed());
        let entries: Vec<NewEntry> =
            batch.iter_mut().flat_map(|one| std::mem::take(&mut one.entries)).collect();
        if entries.is_empty() {
            return;
        }
        let outcome = self.broker.publish(&entries).await.map_err(|error| Chain(&error).to_string());
        if outcome.is_err() {
            // What waits would fail after as long a wait each.
            batch.extend(self.next.take());
            batch.extend(std::iter::from_fn(|| self.waiting.try_recv().ok()));
        }
        for one in batch {
            // Whoever is gone does not need it.
            drop(one.done.send(outcome.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Mutex;
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

    struct Running {
        appender: Arc<Appender>,
        broker: Arc<Slow>,
        stop: CancellationToken,
        writer: JoinSet<()>,
    }

    impl Running {
        fn start() -> Self {
            let broker = Arc::new(Slow { let_in: Semaphore::new(0), writes: Mutex::default() });
            let (appender, writer) = queue(Arc::clone(&broker) as _);
            let stop = CancellationToken::new();
            let (mut task, until) = (JoinSet::new(), stop.clone());
            task.spawn(async move { writer.run(&until).await });
            Self { appender: Arc::new(appender), broker, stop, writer: task }
        }

        /// Appends, in the order of the calls.
        async fn append(&self, keys: &[&str]) -> JoinSet<Result<(), BrokerError>> {
            let entry = |key: &&str| NewEntry {
                topic: TopicName::Incoming,
                key: (*key).to_owned(),
                payload: String::new(),
            };
            let entries = keys.iter().map(entry).collect();
            let (appender, mut task) = (Arc::clone(&self.appender), JoinSet::new());
            task.spawn(async move { appender.append(entries).await });
            // Time is paused: it passes when every task waits.
            tokio::time::sleep(Duration::from_millis(1)).await;
            task
        }

        fn writes(&self) -> Vec<Vec<String>> {
            self.broker.writes.lock().expect("a lock").clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_arrives_during_a_write_is_written_together() {
        let running = Running::start();
        let mut tasks = Vec::new();
        for keys in [&["a"][..], &["b", "c"], &["bad"], &["d"]] {
            tasks.push(running.append(keys).await);
        }
        running.broker.let_in.add_permits(2);
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.join_all().await[0].is_ok());
        }
        // Nobody knows which part of a write failed, so all of it comes again.
        assert_eq!(outcomes, [true, false, false, false]);
        assert_eq!(running.writes(), [vec!["a"], vec!["b", "c", "bad", "d"]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_has_whole_deliveries_and_no_more_than_its_entries() {
        let running = Running::start();
        let mut tasks = vec![running.append(&["first"]).await];
        for count in [MOST_ENTRIES - 1, 1, 1, MOST_ENTRIES + 1, 1, MOST_ENTRIES] {
            tasks.push(running.append(&vec!["a"; count]).await);
        }
        running.broker.let_in.add_permits(9);
        for task in tasks {
            assert!(task.join_all().await[0].is_ok());
        }
        let sizes: Vec<usize> = running.writes().iter().map(Vec::len).collect();
        assert_eq!(sizes, [1, MOST_ENTRIES, 1, MOST_ENTRIES + 1, 1, MOST_ENTRIES]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_for_a_write_that_fails_fails_with_it() {
        let running = Running::start();
        let full = vec!["bad"; MOST_ENTRIES];
        let mut tasks = vec![running.append(&["a"]).await];
        for keys in [&*full, &["b"], &["b"]] {
            tasks.push(running.append(keys).await);
        }
        running.broker.let_in.add_permits(2);
        let mut outcomes = Vec::new();
        for task in tasks {
            outcomes.push(task.join_all().await[0].is_ok());
        }
        assert_eq!(outcomes, [true, false, false, false]);
        running.broker.let_in.add_permits(1);
        assert!(running.append(&["c"]).await.join_all().await[0].is_ok());
        assert_eq!(running.writes(), [vec!["a"], full, vec!["c"]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_has_ended_is_not_written() {
        let running = Running::start();
        let (first, mut second) = (running.append(&["a"]).await, running.append(&["b"]).await);
        let third = running.append(&["c"]).await;
        second.shutdown().await;
        running.broker.let_in.add_permits(9);
        assert!(first.join_all().await[0].is_ok() && third.join_all().await[0].is_ok());
        assert_eq!(running.writes(), [vec!["a"], vec!["c"]]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_at_the_end_is_written() {
        let running = Running::start();
        let (first, second) = (running.append(&["a"]).await, running.append(&["b"]).await);
        running.stop.cancel();
        running.broker.let_in.add_permits(9);
        assert!(first.join_all().await[0].is_ok() && second.join_all().await[0].is_ok());
        assert_eq!(running.writes(), [vec!["a"], vec!["b"]]);
        running.writer.join_all().await;
        let refused = running.appender.append(Vec::new()).await;
        assert!(matches!(refused, Err(BrokerError::Unavailable(_))));
    }
}
