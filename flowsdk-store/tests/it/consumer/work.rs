//! The slow work: it appends to a log of its key, fenced by the length that the log had when the work began.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::kv::{KeyValue, KeyValueError};
use flowsdk_core::stream::consumer::{Handler, Verdict, Work};
use flowsdk_core::stream::lanes::Class;
use flowsdk_core::stream::topic::{Topic, TopicName};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Longer than anything takes that is going to happen.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Message,
    /// Cancels the running work of its key.
    Takeover,
    /// Never works, until it is repaired.
    Broken,
    BrokenTakeover,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) key: String,
    pub(super) number: usize,
    pub(super) kind: Kind,
}

impl Note {
    fn preempts(&self) -> bool {
        matches!(self.kind, Kind::Takeover | Kind::BrokenTakeover)
    }
}

pub(super) struct Notes;

impl Topic for Notes {
    const NAME: TopicName = TopicName::Agent;
    type Event = Note;
    fn key(event: &Note) -> &str {
        &event.key
    }
}

/// Numbers that follow from a seed (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    Logged,
    Dropped,
}

/// Everything that is known beyond the life of a process.
pub(super) struct Shared {
    seed: u64,
    begun: AtomicU64,
    logged_when_healed: AtomicUsize,
    pub(super) healed: AtomicBool,
    said: Mutex<HashSet<(usize, Outcome)>>,
    progress: Notify,
}

impl Shared {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            begun: AtomicU64::new(0),
            logged_when_healed: AtomicUsize::new(0),
            healed: AtomicBool::new(false),
            said: Mutex::default(),
            progress: Notify::new(),
        }
    }

    /// Calls of handlers.
    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    pub(super) async fn until_begun(&self, count: u64) {
        self.until(|| self.begun() >= count).await;
    }

    /// Waits until so many events were logged after the repair.
    pub(super) async fn until_logged(&self, count: usize) {
        let logged = self.until(|| self.logged_when_healed.load(Ordering::SeqCst) >= count);
        tokio::time::timeout(PATIENCE, logged).await.expect("it goes on");
    }

    async fn until(&self, is_so: impl Fn() -> bool) {
        loop {
            let told = self.progress.notified();
            tokio::pin!(told);
            told.as_mut().enable();
            if is_so() {
                return;
            }
            told.await;
        }
    }

    pub(super) fn said(&self, number: usize, outcome: Outcome) -> bool {
        self.said.lock().expect("a lock").contains(&(number, outcome))
    }

    fn say(&self, work: &Work<Note, ()>, outcome: Outcome) {
        self.said.lock().expect("a lock").extend(work.events().map(|note| (note.number, outcome)));
    }
}

/// The entries of the log of a key: each the notes of one commit.
pub(super) async fn log(kv: &dyn KeyValue, key: &str) -> Result<Vec<Vec<Note>>, KeyValueError> {
    let mut log = Vec::new();
    while let Some(entry) = kv.get(&place(key, log.len())).await? {
        log.push(serde_json::from_str(&entry).expect("an entry of the log"));
    }
    Ok(log)
}

fn place(key: &str, index: usize) -> String {
    format!("log:{key}:{index}")
}

/// Works slowly.
pub(super) struct Desk {
    kv: Arc<dyn KeyValue>,
    shared: Arc<Shared>,
}

impl Desk {
    pub(super) fn new(kv: &Arc<dyn KeyValue>, shared: &Arc<Shared>) -> Self {
        Self { kv: Arc::clone(kv), shared: Arc::clone(shared) }
    }

    async fn work(
        &self,
        work: &Work<Note, ()>,
        cancel: &CancellationToken,
    ) -> Result<Verdict<()>, KeyValueError> {
        let call = self.shared.begun.fetch_add(1, Ordering::SeqCst);
        self.shared.progress.notify_waiters();
        let mut random = Random(self.shared.seed ^ (call << 32));
        let log = log(&*self.kv, work.key()).await?;
        let is_healed = self.shared.healed.load(Ordering::SeqCst);
        let is_new = |note: &&Note| {
            // Past a later one of its kind: another owner has dropped it for a takeover, and the log has moved on.
            let is_past = |logged: &Note| {
                logged.number == note.number
                    || !is_healed && logged.preempts() == note.preempts() && logged.number > note.number
            };
            !log.iter().flatten().any(is_past)
        };
        let new: Vec<&Note> = work.events().filter(is_new).collect();
        if new.is_empty() {
            return Ok(Verdict::Done(()));
        }
        let is_broken = |note: &Note| matches!(note.kind, Kind::Broken | Kind::BrokenTakeover);
        if work.events().any(is_broken) && !is_healed {
            return Ok(Verdict::failed("broken"));
        }
        if random.below(8) == 0 {
            return Ok(Verdict::later(Duration::from_millis(random.below(5)), "nobody is there"));
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(random.below(8))) => {}
            // A retry is waited for by its log: a repaired takeover must not drop it.
            () = cancel.cancelled(), if !is_healed => match random.below(3) {
                0 => return Ok(Verdict::failed("cancelled")),
                // It is too late to turn back.
                1 => {}
                _ => {
                    self.shared.say(work, Outcome::Dropped);
                    return Ok(Verdict::Dropped);
                }
            },
        }
        let entry = serde_json::to_string(&new).expect("notes");
        if self.kv.set_if_absent(&place(work.key(), log.len()), &entry, None).await?.is_some() {
            return Ok(Verdict::transient("another owner was faster"));
        }
        self.shared.say(work, Outcome::Logged);
        if is_healed {
            self.shared.logged_when_healed.fetch_add(new.len(), Ordering::SeqCst);
            self.shared.progress.notify_waiters();
        }
        Ok(Verdict::Done(()))
    }
}

#[async_trait]
impl Handler<Notes> for Desk {
    async fn handle(&self, work: &Work<Note, ()>, cancel: &CancellationToken) -> Verdict<()> {
        self.work(work, cancel).await.unwrap_or_else(|error| Verdict::transient(error.to_string()))
    }

    fn preempts(&self, note: &Note) -> bool {
        note.preempts()
    }

    fn joins(&self, note: &Note) -> bool {
        !note.number.is_multiple_of(5)
    }

    fn class(&self, note: &Note) -> Class {
        if note.number.is_multiple_of(3) { Class::CAMPAIGN } else { Class::LIVE }
    }
}
