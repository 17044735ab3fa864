//! Handlers of one piece a call: retries with a time, bursts, preemption, and partitions that are left or lost.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Letters, ownership};
use crate::stream::broker::{Broker, BrokerError, NewEntry, StreamReader};
use crate::stream::consumer::work::{Item, Origin, Ownership, Task};
use crate::stream::consumer::{
    ConsumerConfig, Dispatcher, Each, Handler, SubmitError, Submitter, Verdict, Work,
};
use crate::stream::lanes::Coalesce;
use crate::stream::topic::{StreamPartition, Topic, TopicName};
use crate::time::{Clock, Timestamp};

/// Time as tokio tells it, so that it can be paused.
#[derive(Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::default() + self.0.elapsed()
    }
}

/// Notes acknowledgements.
#[derive(Debug, Default)]
struct AckedBy(Mutex<Vec<String>>);

#[async_trait]
impl Broker for AckedBy {
    fn partitions(&self) -> u32 {
        1
    }

    async fn publish(&self, _: &[NewEntry]) -> Result<(), BrokerError> {
        Ok(())
    }

    async fn open(&self, _: StreamPartition, _: &str, _: &str) -> Result<Box<dyn StreamReader>, BrokerError> {
        Err(BrokerError::Unavailable("nothing is read here".into()))
    }

    async fn ack(&self, _: StreamPartition, _: &str, ids: &[String]) -> Result<(), BrokerError> {
        self.0.lock().expect("a lock").extend_from_slice(ids);
        Ok(())
    }

    async fn backlog(&self, _: StreamPartition, _: &str) -> Result<u64, BrokerError> {
        Ok(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Behaviour {
    /// It takes a second, and is dropped when it is cancelled.
    Slow,
    /// The same, but it is tried again when it is cancelled.
    Insists,
    /// It is tried again half a minute later, once.
    Later,
    /// It never works.
    Fails,
    /// It preempts, and takes no time.
    Preempts,
    /// It preempts, and never works.
    PreemptsAndFails,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    key: String,
    number: usize,
    behaviour: Behaviour,
}

struct Notes;

impl Topic for Notes {
    const NAME: TopicName = TopicName::Agent;
    type Event = Note;
    fn key(event: &Note) -> &str {
        &event.key
    }
}

/// Finished pieces of work: the second, and the numbers of the events.
type Done = Arc<Mutex<Vec<(u64, Vec<usize>)>>>;

/// Does as the notes say.
struct Slow {
    began: Instant,
    done: Done,
}

#[async_trait]
impl Handler<Notes> for Slow {
    async fn handle(&self, work: &Work<Note, ()>, cancel: &CancellationToken) -> Verdict<()> {
        use Behaviour::{Fails, Insists, Later, Preempts, PreemptsAndFails};
        let behaviours: Vec<_> = work.events().map(|note| note.behaviour).collect();
        if behaviours.iter().any(|behaviour| matches!(behaviour, Fails | PreemptsAndFails)) {
            return Verdict::failed("it never works");
        }
        if behaviours.contains(&Later) && work.attempts() == 0 {
            return Verdict::later(Duration::from_secs(30), "nobody is there");
        }
        let seconds = u64::from(behaviours != [Preempts]);
        tokio::select! {
            () = cancel.cancelled() => {
                return if behaviours.contains(&Insists) { Verdict::failed("cancelled") } else { Verdict::Dropped };
            }
            () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
        }
        let numbers = work.events().map(|note| note.number).collect();
        self.done.lock().expect("a lock").push((self.began.elapsed().as_secs(), numbers));
        Verdict::Done(())
    }

    fn preempts(&self, note: &Note) -> bool {
        matches!(note.behaviour, Behaviour::Preempts | Behaviour::PreemptsAndFails)
    }
}

/// A consumer of notes, and everything that it leaves.
struct Stage {
    submitter: Submitter<Each<Notes, Slow>>,
    done: Done,
    acked: Arc<AckedBy>,
    letters: Arc<Letters>,
    ownership: Arc<Ownership>,
    in_flight: TaskTracker,
    sent: usize,
    tasks: tokio::task::JoinSet<()>,
}

impl Stage {
    fn new(coalesce: Option<Coalesce>) -> Self {
        Self::with(8, coalesce)
    }

    /// A consumer of so many places.
    fn with(parallel: usize, coalesce: Option<Coalesce>) -> Self {
        let (began, done) = (Instant::now(), Done::default());
        let (acked, letters) = (Arc::new(AckedBy::default()), Arc::new(Letters::default()));
        let config = ConsumerConfig {
            parallel,
            max_attempts: 2,
            backoff: Duration::from_millis(10),
            coalesce,
            ..ConsumerConfig::named("test")
        };
        let (dispatcher, submitter) = Dispatcher::new(
            Arc::new(Each::new(Slow { began, done: Arc::clone(&done) })),
            Some(Arc::clone(&acked) as _),
            Arc::clone(&letters) as _,
            Arc::new(TokioClock(began)),
            config,
        );
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(dispatcher.run(CancellationToken::new()));
        let (ownership, in_flight) = (ownership(), TaskTracker::new());
        Self { submitter, done, acked, letters, ownership, in_flight, sent: 0, tasks }
    }

    /// Hands in an entry of a stream, after some time.
    async fn send(&mut self, after: Duration, key: &str, behaviour: Behaviour) {
        tokio::time::sleep(after).await;
        let note = Note { key: key.to_owned(), number: self.sent, behaviour };
        self.sent += 1;
        let origin = Origin {
            stream: StreamPartition { topic: TopicName::Agent, index: 0 },
            group: "test",
            id: note.number.to_string(),
            ownership: Arc::clone(&self.ownership),
            _in_flight: self.in_flight.token(),
        };
        let payload = serde_json::to_string(&note).expect("it serialises");
        let item = Item { origin: Some(origin), payload, ..Item::new(key.to_owned(), note) };
        assert!(self.submitter.inbox.send(Task::Event(Box::new(item))).await.is_ok());
    }

    /// Waits until nothing is in flight.
    async fn quiet(&self) {
        self.in_flight.close();
        self.in_flight.wait().await;
    }

    fn done(&self) -> Vec<(u64, Vec<usize>)> {
        self.done.lock().expect("a lock").clone()
    }

    fn acked(&self) -> Vec<String> {
        self.acked.0.lock().expect("a lock").clone()
    }

    fn letters(&self) -> Vec<(String, u32)> {
        let letters = self.letters.0.lock().expect("a lock");
        letters.iter().map(|letter| (letter.source.clone().unwrap_or_default(), letter.attempts)).collect()
    }
}

const NOW: Duration = Duration::ZERO;
const SOON: Duration = Duration::from_millis(100);

#[tokio::test(start_paused = true)]
async fn slow_work_holds_only_its_own_key() {
    let mut stage = Stage::new(None);
    for key in ["a", "b", "a", "c"] {
        stage.send(NOW, key, Behaviour::Slow).await;
    }
    stage.quiet().await;
    let mut done = stage.done();
    done.sort();
    assert_eq!(done, [(1, vec![0]), (1, vec![1]), (1, vec![3]), (2, vec![2])]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_with_a_time_holds_only_its_own_lane() {
    let mut stage = Stage::new(None);
    stage.send(NOW, "a", Behaviour::Later).await;
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.send(NOW, "b", Behaviour::Slow).await;
    stage.quiet().await;
    assert_eq!(stage.done(), [(1, vec![2]), (31, vec![0]), (32, vec![1])]);
    assert_eq!(stage.acked(), ["2", "0", "1"]);
}

#[tokio::test(start_paused = true)]
async fn dropped_work_is_acknowledged_with_the_entry_that_preempted_it() {
    let mut stage = Stage::new(None);
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.send(SOON, "a", Behaviour::Preempts).await;
    stage.quiet().await;
    assert_eq!(stage.done(), [(0, vec![2]), (1, vec![1])]);
    assert_eq!(stage.acked(), ["2", "0", "1"]);
    assert_eq!(stage.letters(), []);
}

#[tokio::test(start_paused = true)]
async fn dropped_work_runs_after_all_when_the_entry_that_preempted_it_fails() {
    let mut stage = Stage::new(None);
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.send(SOON, "a", Behaviour::PreemptsAndFails).await;
    stage.quiet().await;
    assert_eq!(stage.done(), [(1, vec![0])]);
    assert_eq!(stage.acked(), ["1", "0"]);
    assert_eq!(stage.letters(), [("0:1".to_owned(), 2)]);
}

#[tokio::test(start_paused = true)]
async fn cancelled_work_that_insists_runs_again_without_a_failure() {
    let mut stage = Stage::new(None);
    stage.send(NOW, "a", Behaviour::Insists).await;
    for _ in 0..5 {
        stage.send(SOON, "a", Behaviour::Preempts).await;
    }
    stage.quiet().await;
    assert_eq!(stage.done().last(), Some(&(1, vec![0])));
    assert_eq!(stage.letters(), []);
}

fn bursts() -> Option<Coalesce> {
    let (quiet, longest) = (Duration::from_millis(1_500), Duration::from_secs(10));
    Some(Coalesce { quiet, longest, most: 16 })
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_one_piece_of_work() {
    let mut stage = Stage::new(bursts());
    for after in [0, 1, 1, 3] {
        stage.send(Duration::from_secs(after), "a", Behaviour::Slow).await;
    }
    stage.quiet().await;
    // Quiet at 3.5 s and at 6.5 s.
    assert_eq!(stage.done(), [(4, vec![0, 1, 2]), (7, vec![3])]);
    assert_eq!(stage.acked(), ["0", "1", "2", "3"]);
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_fails_is_taken_apart() {
    let mut stage = Stage::new(bursts());
    for behaviour in [Behaviour::Slow, Behaviour::Fails, Behaviour::Slow] {
        stage.send(NOW, "a", behaviour).await;
    }
    stage.quiet().await;
    let numbers: Vec<_> = stage.done().into_iter().map(|(_, numbers)| numbers).collect();
    assert_eq!(numbers, [[0], [2]]);
    assert_eq!(stage.letters(), [("0:1".to_owned(), 2)]);
    assert_eq!(stage.acked(), ["0", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_is_left_does_not_wait_for_a_retry() {
    let mut stage = Stage::new(None);
    stage.send(NOW, "a", Behaviour::Later).await;
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.send(NOW, "b", Behaviour::Slow).await;
    tokio::time::sleep(SOON).await;
    stage.ownership.reading.cancel();
    stage.submitter.left.notify_one();
    // Comes too late: the entries before it were let go.
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.quiet().await;
    // The running work was finished.
    assert_eq!(stage.done(), [(1, vec![2])]);
    assert_eq!(stage.acked(), ["2"]);
    stage.tasks.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn work_of_a_lost_partition_is_cancelled_and_not_acknowledged() {
    let mut stage = Stage::new(None);
    stage.send(NOW, "a", Behaviour::Slow).await;
    stage.send(SOON, "b", Behaviour::Insists).await;
    tokio::time::sleep(SOON).await;
    stage.ownership.alive.cancel();
    stage.quiet().await;
    assert_eq!(stage.done(), []);
    assert_eq!(stage.acked(), [""; 0]);
}

/// The lane of a lost entry goes on to a burst that waits to be quiet, when nothing else wakes the dispatcher.
#[tokio::test(start_paused = true)]
async fn a_burst_behind_lost_work_does_not_hold_its_partition() {
    let mut stage = Stage::with(1, bursts());
    stage.send(NOW, "a", Behaviour::Slow).await;
    // The burst is quiet, and its work takes the only place.
    tokio::time::sleep(Duration::from_millis(1_600)).await;
    stage.send(NOW, "z", Behaviour::Preempts).await;
    stage.send(NOW, "z", Behaviour::Slow).await;
    tokio::time::sleep(SOON).await;
    stage.ownership.reading.cancel();
    stage.submitter.left.notify_one();
    tokio::time::sleep(SOON).await;
    stage.ownership.alive.cancel();
    tokio::time::timeout(Duration::from_secs(60), stage.quiet()).await.expect("nothing is in flight");
    assert_eq!(stage.done(), []);
    assert_eq!(stage.acked(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_submitted_event_that_fails_is_a_dead_letter_too() {
    let stage = Stage::new(None);
    let note = Note { key: "a".to_owned(), number: 7, behaviour: Behaviour::Fails };
    let answer = stage.submitter.submit("a", note).await;
    assert_eq!(answer, Err(SubmitError::SetAside));
    let letters = stage.letters.0.lock().expect("a lock").clone();
    assert_eq!(
        (letters[0].topic, letters[0].group.as_str(), &letters[0].source),
        (Notes::NAME, "test", &None)
    );
    assert_eq!(letters[0].payload, r#"{"key":"a","number":7,"behaviour":"Fails"}"#);
}

#[tokio::test(start_paused = true)]
async fn submitters_of_a_burst_are_told_each_its_own_end() {
    let stage = Stage::new(bursts());
    let submit =
        |number, behaviour| stage.submitter.submit("a", Note { key: "a".to_owned(), number, behaviour });
    let answers =
        tokio::join!(submit(0, Behaviour::Slow), submit(1, Behaviour::Fails), submit(2, Behaviour::Slow),);
    assert_eq!(answers, (Ok(()), Err(SubmitError::SetAside), Ok(())));
}
