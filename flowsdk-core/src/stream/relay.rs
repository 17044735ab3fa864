//! Moves entries from one broker to another: the entries of transactions in the outbox, on to the broker that the
//! other processes read (rulings S3).
//!
//! A batch is read, published and acknowledged before the next is read. The target may therefore
//! see an entry twice (after a crash, or an answer that was lost), but never the first time of an
//! entry after the first time of a later one. One relay runs for each partition of the source.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::broker::{Broker, BrokerError, Entry, NewEntry, StreamReader};
use super::topic::StreamPartition;
use crate::fault::Chain;

/// The group that a relay reads the source as.
pub const GROUP: &str = "relay";

/// How a relay works.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// Most entries in one batch.
    pub batch: usize,
    /// How long one read of the source waits for something new.
    pub wait: Duration,
    /// The pause after a first error; doubles with each error in a row.
    pub first_pause: Duration,
    /// The longest pause after repeated errors.
    pub longest_pause: Duration,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            batch: 500,
            wait: Duration::from_secs(5),
            first_pause: Duration::from_millis(50),
            longest_pause: Duration::from_secs(5),
        }
    }
}

impl RelayOptions {
    fn pause(&self, errors: u32) -> Duration {
        let factor = 2u32.saturating_pow(errors.saturating_sub(1));
        self.first_pause.saturating_mul(factor).min(self.longest_pause)
    }
}

/// Moves one partition of `source` to `target`. The caller holds the lease of the partition for
/// [`GROUP`] and cancels the relay when it loses it.
#[derive(Debug)]
pub struct Relay {
    source: Arc<dyn Broker>,
    target: Arc<dyn Broker>,
    stream: StreamPartition,
    consumer: String,
    options: RelayOptions,
}

/// The relay was told to stop.
struct Stopped;

impl Relay {
    /// Creates a relay of `stream`, a partition of `source`. The keys of the entries choose the partitions of
    /// `target`, which may have another number of them.
    pub fn new(
        source: Arc<dyn Broker>,
        target: Arc<dyn Broker>,
        stream: StreamPartition,
        consumer: impl Into<String>,
        options: RelayOptions,
    ) -> Self {
        Self { source, target, stream, consumer: consumer.into(), options }
    }

    /// Runs until `stop`. A batch that was begun is finished first, unless a broker fails meanwhile.
    pub async fn run(&self, stop: &CancellationToken) {
        // `Stopped` is the one way out.
        let _: Result<(), Stopped> = self.relay(stop).await;
    }

    async fn relay(&self, stop: &CancellationToken) -> Result<(), Stopped> {
        let mut errors = 0;
        loop {
            let mut reader =
                self.insist("open", stop, || self.source.open(self.stream, GROUP, &self.consumer)).await?;
            // A reader that fails is opened anew: its unacknowledged entries come again.
            loop {
                match self.next(reader.as_mut(), stop).await? {
                    Ok(entries) => {
                        errors = 0;
                        self.hand_over(entries, stop).await?;
                    }
                    Err(error @ BrokerError::Corrupt { .. }) => {
                        // Left unacknowledged, where an operator finds it; the reader goes on behind it.
                        tracing::error!(stream = ?self.stream, "cannot relay: {}", Chain(&error));
                    }
                    Err(error) => {
                        errors += 1;
                        self.pause("read", &error, errors, stop).await?;
                        break;
                    }
                }
            }
        }
    }

    async fn next(
        &self,
        reader: &mut dyn StreamReader,
        stop: &CancellationToken,
    ) -> Result<Result<Vec<Entry>, BrokerError>, Stopped> {
        tokio::select! {
            biased;
            // Reading is not cancel-safe, but the reader is dropped with the read: its entries are given to the
            // next owner.
            () = stop.cancelled() => Err(Stopped),
            result = reader.read(self.options.batch, self.options.wait) => Ok(result),
        }
    }

    async fn hand_over(&self, entries: Vec<Entry>, stop: &CancellationToken) -> Result<(), Stopped> {
        if entries.is_empty() {
            return Ok(());
        }
        let (ids, entries): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .map(|entry| {
                (entry.id, NewEntry { topic: self.stream.topic, key: entry.key, payload: entry.payload })
            })
            .unzip();
        self.insist("publish", stop, || self.target.publish(&entries)).await?;
        // Insisted on by itself: publishing again because an acknowledgement failed would double the batch.
        self.insist("ack", stop, || self.source.ack(self.stream, GROUP, &ids)).await
    }

    /// Does `work` until it succeeds.
    async fn insist<T, F>(
        &self,
        what: &str,
        stop: &CancellationToken,
        work: impl Fn() -> F,
    ) -> Result<T, Stopped>
    where
        F: Future<Output = Result<T, BrokerError>>,
    {
        let mut errors = 0;
        loop {
            match work().await {
                Ok(done) => return Ok(done),
                Err(error) => {
                    errors += 1;
                    self.pause(what, &error, errors, stop).await?;
                }
            }
        }
    }

    async fn pause(
        &self,
        what: &str,
        error: &BrokerError,
        errors: u32,
        stop: &CancellationToken,
    ) -> Result<(), Stopped> {
        let pause = self.options.pause(errors);
        tracing::warn!(stream = ?self.stream, what, errors, ?pause, "relay waits: {}", Chain(error));
        tokio::select! {
            () = stop.cancelled() => Err(Stopped),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use async_trait::async_trait;
    use tokio::task::JoinSet;

    use super::*;
    use crate::stream::topic::TopicName;

    const STREAM: StreamPartition = StreamPartition { topic: TopicName::Flow, index: 0 };

    /// A broker of one stream whose calls fail as planned: each call takes the next of `plan`.
    #[derive(Debug, Default)]
    struct Fake {
        entries: Mutex<Vec<Entry>>,
        acked: Mutex<Vec<String>>,
        plan: Mutex<VecDeque<Plan>>,
        opened: Mutex<u32>,
    }

    #[derive(Debug, Clone, Copy)]
    enum Plan {
        Fine,
        /// The call does nothing and says so.
        Fails,
        /// The call does its work and says that it failed.
        AnswerLost,
    }

    fn down() -> BrokerError {
        BrokerError::Unavailable("planned".into())
    }

    impl Fake {
        fn with(count: usize, plan: &[Plan]) -> Arc<Self> {
            let entries = (0..count)
                .map(|n| Entry { id: n.to_string(), key: format!("k{}", n % 3), payload: format!("{n}") })
                .collect();
            Arc::new(Self {
                entries: Mutex::new(entries),
                plan: Mutex::new(plan.iter().copied().collect()),
                ..Self::default()
            })
        }

        fn step<T>(&self, work: impl FnOnce() -> T) -> Result<T, BrokerError> {
            let plan = self.plan.lock().expect("plan").pop_front().unwrap_or(Plan::Fine);
            match plan {
                Plan::Fine => Ok(work()),
                Plan::Fails => Err(down()),
                Plan::AnswerLost => {
                    work();
                    Err(down())
                }
            }
        }

        fn payloads(&self) -> Vec<usize> {
            let entries = self.entries.lock().expect("entries");
            entries.iter().map(|entry| entry.payload.parse().expect("a number")).collect()
        }
    }

    #[derive(Debug)]
    struct FakeReader(Arc<Fake>, usize);

    #[async_trait]
    impl StreamReader for FakeReader {
        async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError> {
            let read = self.0.step(|| {
                let entries = self.0.entries.lock().expect("entries");
                let acked = self.0.acked.lock().expect("acked");
                let fresh = entries.iter().enumerate().skip(self.1).filter(|(_, e)| !acked.contains(&e.id));
                fresh.take(count).map(|(at, e)| (at, e.clone())).collect::<Vec<_>>()
            })?;
            let Some((last, _)) = read.last() else {
                tokio::time::sleep(wait).await;
                return Ok(Vec::new());
            };
            self.1 = last + 1;
            if read.iter().any(|(_, entry)| entry.payload == "corrupt") {
                return Err(BrokerError::Corrupt { id: "x".into(), reason: "planned".into() });
            }
            Ok(read.into_iter().map(|(_, entry)| entry).collect())
        }
    }

    #[derive(Debug)]
    struct Shared(Arc<Fake>);

    #[async_trait]
    impl Broker for Shared {
        fn partitions(&self) -> u32 {
            1
        }

        async fn publish(&self, new: &[NewEntry]) -> Result<(), BrokerError> {
            self.0.step(|| {
                let mut entries = self.0.entries.lock().expect("entries");
                for entry in new {
                    let id = entries.len().to_string();
                    entries.push(Entry { id, key: entry.key.clone(), payload: entry.payload.clone() });
                }
            })
        }

        async fn open(
            &self,
            _: StreamPartition,
            _: &str,
            _: &str,
        ) -> Result<Box<dyn StreamReader>, BrokerError> {
            *self.0.opened.lock().expect("opened") += 1;
            self.0.step(|| Box::new(FakeReader(Arc::clone(&self.0), 0)) as Box<dyn StreamReader>)
        }

        async fn ack(&self, _: StreamPartition, _: &str, ids: &[String]) -> Result<(), BrokerError> {
            self.0.step(|| self.0.acked.lock().expect("acked").extend_from_slice(ids))
        }

        async fn backlog(&self, _: StreamPartition, _: &str) -> Result<u64, BrokerError> {
            Err(down())
        }
    }

    /// Runs a relay until the source is acknowledged up to `acked` entries. The time is virtual.
    async fn relay(source: &Arc<Fake>, target: &Arc<Fake>, acked: usize) {
        let relay = Relay::new(
            Arc::new(Shared(Arc::clone(source))),
            Arc::new(Shared(Arc::clone(target))),
            STREAM,
            "test",
            RelayOptions { batch: 4, ..RelayOptions::default() },
        );
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let token = stop.clone();
        tasks.spawn(async move { relay.run(&token).await });
        let done = async {
            while source.acked.lock().expect("acked").len() < acked {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(3600), done).await.expect("the relay is done");
        stop.cancel();
        tasks.join_all().await;
    }

    #[tokio::test(start_paused = true)]
    async fn everything_arrives_in_order() {
        let (source, target) = (Fake::with(10, &[]), Fake::with(0, &[]));
        relay(&source, &target, 10).await;
        assert_eq!(target.payloads(), (0..10).collect::<Vec<_>>());
        let keys: Vec<_> = target.entries.lock().expect("entries").iter().map(|e| e.key.clone()).collect();
        assert_eq!(keys[..4], ["k0", "k1", "k2", "k0"]);
    }

    #[tokio::test(start_paused = true)]
    async fn errors_lose_nothing_and_a_lost_answer_only_repeats() {
        use Plan::{AnswerLost, Fails, Fine};
        // open, read, ack, ... of the source and publish of the target, failing in every place.
        for source_plan in [
            &[Fails, Fails, Fine][..],
            &[Fine, Fails, Fails, Fine],
            &[Fine, AnswerLost, Fine],
            &[Fine, Fine, Fails, Fails, Fine],
            &[Fine, Fine, AnswerLost, Fine, Fails, AnswerLost],
        ] {
            for target_plan in [&[][..], &[Fails, Fails, Fails], &[AnswerLost], &[Fine, AnswerLost, Fails]] {
                let (source, target) = (Fake::with(10, source_plan), Fake::with(0, target_plan));
                relay(&source, &target, 10).await;
                let mut firsts = Vec::new();
                for payload in target.payloads() {
                    if !firsts.contains(&payload) {
                        firsts.push(payload);
                    }
                }
                assert_eq!(firsts, (0..10).collect::<Vec<_>>(), "{source_plan:?} {target_plan:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_ack_does_not_publish_again() {
        use Plan::{Fails, Fine};
        let source = Fake::with(4, &[Fine, Fine, Fails, Fails, Fine]);
        let target = Fake::with(0, &[]);
        relay(&source, &target, 4).await;
        assert_eq!(target.payloads(), [0, 1, 2, 3]);
        assert_eq!(*source.opened.lock().expect("opened"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_corrupt_entry_is_left_behind_and_does_not_stop_the_rest() {
        let (source, target) = (Fake::with(8, &[]), Fake::with(0, &[]));
        source.entries.lock().expect("entries")[2].payload = "corrupt".to_owned();
        relay(&source, &target, 4).await;
        assert_eq!(target.payloads(), [4, 5, 6, 7]);
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let options = RelayOptions::default();
        let millis = |errors| options.pause(errors).as_millis();
        assert_eq!([millis(1), millis(2), millis(3), millis(8), millis(400)], [50, 100, 200, 5000, 5000]);
    }
}
