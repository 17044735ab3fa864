//! Handlers of batches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Letters, ownership};
use crate::stream::broker::Entry;
use crate::stream::consumer::work::{Item, Origin, Ownership, Task, TaskOf, Unreadable};
use crate::stream::consumer::{BatchHandler, ConsumerConfig, Dispatcher, SetAside, Verdict, Work};
use crate::stream::lanes::{Party, Turn};
use crate::stream::topic::{StreamPartition, TopicName};
use crate::time::ManualClock;

/// The fate of an entry.
#[derive(Debug, Clone, Copy)]
struct Fate {
    key: u8,
    is_readable: bool,
    /// Whether its handler wants it to run aside.
    is_long: bool,
    /// Failures before it is done.
    failures: u32,
    transient: bool,
}

/// Counts the runs at one time.
#[derive(Default)]
struct Counter {
    running: AtomicUsize,
    most: AtomicUsize,
    /// Batches in which an entry that failed before had neighbours.
    mixed: AtomicUsize,
    /// Pieces that run aside at one time.
    aside: AtomicUsize,
    most_aside: AtomicUsize,
    /// Pieces that run aside together with others in a call.
    crowded: AtomicUsize,
    refused: Mutex<HashMap<String, u32>>,
    done: Mutex<HashMap<String, Vec<usize>>>,
}

impl Counter {
    async fn run(&self) {
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(running, Ordering::Relaxed);
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    fn done(&self, key: &str, number: usize) {
        self.done.lock().expect("a lock").entry(key.to_owned()).or_default().push(number);
    }
}

#[async_trait]
impl BatchHandler for Counter {
    type Event = (usize, Fate);
    type Output = ();

    fn parse(&self, _: TopicName, _: &Entry) -> Result<(usize, Fate), String> {
        Err("nothing is parsed here".to_owned())
    }

    async fn handle(&self, batch: &[Work<(usize, Fate), ()>]) -> Vec<Verdict<()>> {
        if batch.iter().any(Work::is_aside) {
            self.crowded.fetch_add(batch.len() - 1, Ordering::Relaxed);
            let aside = self.aside.fetch_add(1, Ordering::Relaxed) + 1;
            self.most_aside.fetch_max(aside, Ordering::Relaxed);
            tokio::task::yield_now().await;
            self.aside.fetch_sub(1, Ordering::Relaxed);
        } else {
            self.run().await;
        }
        if batch.len() > 1 && batch.iter().any(|work| work.attempts() > 0) {
            self.mixed.fetch_add(1, Ordering::Relaxed);
        }
        let verdict = |work: &Work<(usize, Fate), ()>| {
            let (number, fate) = *work.event();
            if fate.is_long && !work.is_aside() {
                return Verdict::Aside;
            }
            if work.attempts() < fate.failures {
                let (transient, reason) = (fate.transient, "on purpose".to_owned());
                return Verdict::Retry { transient, after: None, reason };
            }
            self.done(work.key(), number);
            Verdict::Done(())
        };
        batch.iter().map(verdict).collect()
    }

    async fn poison(&self, _: &str, _: &(usize, Fate), _: &str) -> Result<SetAside, String> {
        Err("nothing is poison".to_owned())
    }

    async fn unreadable(&self, _: TopicName, entry: &Entry, failures: &str) -> Result<SetAside, String> {
        self.run().await;
        let mut refused = self.refused.lock().expect("a lock");
        let refused = refused.entry(entry.id.clone()).or_default();
        if *refused < failures.parse().expect("a number") {
            *refused += 1;
            return Err("on purpose".to_owned());
        }
        self.done(&entry.key, entry.id.parse().expect("a number"));
        Ok(SetAside::Recorded)
    }
}

fn origin(id: String, ownership: Arc<Ownership>) -> Origin {
    let stream = StreamPartition { topic: TopicName::Flow, index: 0 };
    Origin { stream, group: "test", id, ownership, _in_flight: TaskTracker::new().token() }
}

fn task(number: usize, fate: Fate) -> TaskOf<Counter> {
    let key = format!("k{}", fate.key);
    if fate.is_readable {
        return Task::Event(Box::new(Item::new(key, (number, fate))));
    }
    let entry = Entry { id: number.to_string(), key, payload: String::new() };
    Task::Unreadable(Box::new(Unreadable {
        reason: fate.failures.to_string(),
        origin: origin(entry.id.clone(), ownership()),
        entry,
        attempts: 0,
        failed_at: None,
    }))
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = (0..40_u8, 0..8_u8, 0..4_u32, any::<bool>()).prop_map(|(key, kind, failures, transient)| {
        Fate { key, is_readable: kind > 0, is_long: kind > 5, failures, transient }
    });
    proptest::collection::vec(fate, 0..200)
}

proptest! {
    /// No more batches at once than allowed, whatever fails; nothing is lost, and each key keeps its order.
    #[test]
    fn what_fails_runs_alone_and_within_the_limit(
        fates in fates(),
        parallel in 1..5_usize,
        aside in 1..4_usize,
        max_batch in 1..64_usize,
    ) {
        let counter = Arc::new(Counter::default());
        let config = ConsumerConfig {
            parallel,
            aside,
            max_batch,
            max_attempts: 5,
            backoff: Duration::ZERO,
            ..ConsumerConfig::named("test")
        };
        let clock = Arc::new(ManualClock::at(0));
        let (dispatcher, submitter) = Dispatcher::new(Arc::clone(&counter), None, Arc::new(Letters::default()), clock, config);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let handing_in = async {
                for (number, fate) in fates.iter().enumerate() {
                    assert!(submitter.inbox.send(task(number, *fate)).await.is_ok());
                }
                drop(submitter);
            };
            tokio::join!(dispatcher.run(CancellationToken::new()), handing_in);
        });
        prop_assert!(counter.most.load(Ordering::Relaxed) <= parallel);
        prop_assert!(counter.most_aside.load(Ordering::Relaxed) <= aside);
        prop_assert_eq!(counter.mixed.load(Ordering::Relaxed), 0);
        prop_assert_eq!(counter.crowded.load(Ordering::Relaxed), 0);
        let mut expected: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, fate) in fates.iter().enumerate() {
            expected.entry(format!("k{}", fate.key)).or_default().push(number);
        }
        prop_assert_eq!(&*counter.done.lock().expect("a lock"), &expected);
    }
}

/// Long work of one party, which ends when all of another party's work is done.
#[derive(Default)]
struct Slow {
    quick: AtomicUsize,
    done: tokio::sync::Notify,
    largest: AtomicUsize,
}

const QUICK: usize = 50;

#[async_trait]
impl BatchHandler for Slow {
    /// Whether it is slow.
    type Event = bool;
    type Output = bool;

    fn parse(&self, _: TopicName, _: &Entry) -> Result<bool, String> {
        Err("nothing is parsed here".to_owned())
    }

    fn turn(&self, slow: &bool) -> Turn {
        Turn { party: Party::of(slow), ..Turn::default() }
    }

    fn cost(&self, slow: &bool) -> Duration {
        Duration::from_millis(if *slow { 50 } else { 3 })
    }

    async fn handle(&self, batch: &[Work<bool, bool>]) -> Vec<Verdict<bool>> {
        let mut verdicts = Vec::new();
        self.largest.fetch_max(batch.len(), Ordering::Relaxed);
        for work in batch {
            let slow = *work.event();
            if slow && !work.is_aside() {
                verdicts.push(Verdict::Aside);
                continue;
            }
            if slow {
                self.done.notified().await;
                self.done.notify_one();
            } else if self.quick.fetch_add(1, Ordering::Relaxed) + 1 == QUICK {
                self.done.notify_one();
            }
            verdicts.push(Verdict::Done(slow));
        }
        verdicts
    }
}

#[tokio::test(start_paused = true)]
async fn batches_go_on_beside_long_work_and_stay_short() {
    let handler = Arc::new(Slow::default());
    let config = ConsumerConfig::named("test");
    let clock = Arc::new(ManualClock::at(0));
    let (dispatcher, submitter) =
        Dispatcher::new(Arc::clone(&handler), None, Arc::new(Letters::default()), clock, config);
    let handing_in = async {
        for number in 0..QUICK {
            for slow in [true, false] {
                let key = format!("{slow}{}", if slow { number } else { number % 25 });
                let item = Task::Event(Box::new(Item::new(key, slow)));
                assert!(submitter.inbox.send(item).await.is_ok());
            }
        }
        drop(submitter);
    };
    let both = async { tokio::join!(dispatcher.run(CancellationToken::new()), handing_in) };
    tokio::time::timeout(Duration::from_secs(60), both).await.expect("nothing waits for long work");
    assert_eq!(handler.quick.load(Ordering::Relaxed), QUICK);
    assert!(handler.largest.load(Ordering::Relaxed) > 1, "what is not known to be dear shares a batch");
}

/// Pieces of a dear party and of cheap ones.
#[derive(Default)]
struct Kinds {
    /// Pieces of the dear party that are done.
    dear_done: AtomicUsize,
    /// Batches with pieces of both after the first piece of the dear party.
    mixed: AtomicUsize,
    dear: AtomicUsize,
    most_dear: AtomicUsize,
    most_cheap: AtomicUsize,
    cheap: AtomicUsize,
}

#[async_trait]
impl BatchHandler for Kinds {
    /// Whether it is dear.
    type Event = bool;
    type Output = bool;

    fn parse(&self, _: TopicName, _: &Entry) -> Result<bool, String> {
        Err("nothing is parsed here".to_owned())
    }

    fn turn(&self, dear: &bool) -> Turn {
        Turn { party: Party::of(dear), ..Turn::default() }
    }

    fn cost(&self, dear: &bool) -> Duration {
        Duration::from_millis(if *dear { 4 } else { 0 })
    }

    async fn handle(&self, batch: &[Work<bool, bool>]) -> Vec<Verdict<bool>> {
        let dear = batch.iter().filter(|work| *work.event()).count();
        if dear > 0 && dear < batch.len() {
            self.mixed.fetch_add(1, Ordering::Relaxed);
        }
        let (running, most) =
            if dear > 0 { (&self.dear, &self.most_dear) } else { (&self.cheap, &self.most_cheap) };
        most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(if dear > 0 { 40 } else { 1 })).await;
        running.fetch_sub(1, Ordering::Relaxed);
        self.dear_done.fetch_add(dear, Ordering::Relaxed);
        batch.iter().map(|work| Verdict::Done(*work.event())).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn dear_pieces_leave_half_of_the_places_to_others() {
    let handler = Arc::new(Kinds::default());
    let config = ConsumerConfig { parallel: 4, aside: 2, max_batch: 4, ..ConsumerConfig::named("test") };
    let clock = Arc::new(ManualClock::at(0));
    let (dispatcher, submitter) =
        Dispatcher::new(Arc::clone(&handler), None, Arc::new(Letters::default()), clock, config);
    let handing_in = async {
        let hand_in = async |number: usize, dear| {
            let item = Task::Event(Box::new(Item::new(format!("{number}"), dear)));
            assert!(submitter.inbox.send(item).await.is_ok());
        };
        hand_in(0, true).await;
        while handler.dear_done.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for number in 1..100 {
            hand_in(number, number % 2 == 0).await;
        }
        drop(submitter);
    };
    tokio::join!(dispatcher.run(CancellationToken::new()), handing_in);
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    assert_eq!(count(&handler.dear_done), 50);
    assert_eq!((count(&handler.mixed), count(&handler.most_dear)), (0, 2));
    assert!(count(&handler.most_cheap) > 1, "a cheap piece finds a place beside them");
}

#[tokio::test(start_paused = true)]
async fn a_party_that_fills_half_of_the_room_is_refused_until_most_of_it_is_done() {
    let config = ConsumerConfig { capacity: 16, max_batch: 1, ..ConsumerConfig::named("test") };
    let clock = Arc::new(ManualClock::at(0));
    let handler = Arc::new(Kinds::default());
    let (dispatcher, submitter) = Dispatcher::new(handler, None, Arc::new(Letters::default()), clock, config);
    let pressure = submitter.backpressure().clone();
    let (crowd, other) = (Party::of(&true), Party::of(&false));
    let handing_in = async {
        let mut answers = Vec::new();
        for number in 0..8 {
            assert!(!pressure.is_on(&[crowd]), "{number} are less than half");
            answers.push(submitter.enqueue(format!("dear {number}"), true).await.expect("taken"));
        }
        submitter.submit("cheap", false).await.expect("there is room for others");
        assert!(pressure.is_on(&[crowd]) && !pressure.is_on(&[other]));
        for answer in answers {
            answer.await.expect("an answer").expect("done");
        }
        assert!(!pressure.is_on(&[crowd]));
        drop(submitter);
    };
    tokio::join!(dispatcher.run(CancellationToken::new()), handing_in);
}

/// Work of one party that is to be done later.
struct Postponed;

#[async_trait]
impl BatchHandler for Postponed {
    type Event = Party;
    type Output = ();

    fn parse(&self, _: TopicName, _: &Entry) -> Result<Party, String> {
        Err("nothing is parsed here".to_owned())
    }

    fn turn(&self, party: &Party) -> Turn {
        Turn { party: *party, ..Turn::default() }
    }

    async fn handle(&self, batch: &[Work<Party, ()>]) -> Vec<Verdict<()>> {
        batch.iter().map(|_| Verdict::later(Duration::from_secs(60), "on purpose")).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_party_whose_partition_is_left_is_refused_no_more() {
    let config = ConsumerConfig { capacity: 8, ..ConsumerConfig::named("test") };
    let clock = Arc::new(ManualClock::at(0));
    let (dispatcher, submitter) =
        Dispatcher::new(Arc::new(Postponed), None, Arc::new(Letters::default()), clock, config);
    let (pressure, crowd, ownership) = (submitter.backpressure().clone(), Party::of("crowd"), ownership());
    let until = async |is_on: bool| {
        while pressure.is_on(&[crowd]) != is_on {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let leaving = async {
        for number in 0..4 {
            let origin = origin(number.to_string(), Arc::clone(&ownership));
            let item = Item { origin: Some(origin), ..Item::new(number.to_string(), crowd) };
            assert!(submitter.inbox.send(Task::Event(Box::new(item))).await.is_ok());
        }
        until(true).await;
        // They wait for their moment by then.
        tokio::time::sleep(Duration::from_secs(1)).await;
        ownership.reading.cancel();
        submitter.left.notify_one();
        until(false).await;
        drop(submitter);
    };
    let both = async { tokio::join!(dispatcher.run(CancellationToken::new()), leaving) };
    tokio::time::timeout(Duration::from_secs(60), both).await.expect("it is relieved");
}

/// Answers at once.
struct Echo;

#[async_trait]
impl BatchHandler for Echo {
    type Event = ();
    type Output = ();

    fn parse(&self, _: TopicName, _: &Entry) -> Result<(), String> {
        Err("nothing is parsed here".to_owned())
    }

    async fn handle(&self, batch: &[Work<(), ()>]) -> Vec<Verdict<()>> {
        batch.iter().map(|_| Verdict::Done(())).collect()
    }
}

/// The third entry is fewer than the batch of two before it, so it waits for more. Its wait ends at any place of the
/// dispatcher's round, because the waits differ by less than a round takes.
#[tokio::test]
async fn a_small_batch_begins_whenever_its_wait_ends() {
    for nanoseconds in (0..20_000).step_by(10) {
        let gather = Duration::from_nanos(nanoseconds);
        let config = ConsumerConfig { max_batch: 2, gather, ..ConsumerConfig::named("test") };
        let clock = Arc::new(ManualClock::at(0));
        let (dispatcher, submitter) =
            Dispatcher::new(Arc::new(Echo), None, Arc::new(Letters::default()), clock, config);
        let handing_in = async {
            let submit = async |key: &str| submitter.submit(key, ()).await;
            let answers = async { tokio::join!(submit("a"), submit("b"), submit("c")) };
            let answers = tokio::time::timeout(Duration::from_secs(10), answers).await;
            assert_eq!(answers.expect("no entry waits for the next one"), (Ok(()), Ok(()), Ok(())));
            drop(submitter);
        };
        tokio::join!(dispatcher.run(CancellationToken::new()), handing_in);
    }
}
