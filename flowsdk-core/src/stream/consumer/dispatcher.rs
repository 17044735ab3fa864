//! Owns the lanes and decides which work runs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::aside::Aside;
use super::cost::Costs;
use super::running::{Bench, Ended, EndedBatch};
use super::work::{RunOf, Task, TaskOf, Work};
use super::{Backpressure, BatchHandler, ConsumerConfig, Submitter};
use crate::stream::broker::Broker;
use crate::stream::dead_letter::DeadLetterSink;
use crate::stream::lanes::{Lanes, Offered, Turn};
use crate::time::{Clock, Timestamp};

/// The parties whose pieces a batch takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    All,
    /// Those whose pieces cost next to nothing. Nobody's dear piece holds up their batch.
    Cheap,
    Dear,
}

/// Decides which work runs.
pub struct Dispatcher<H: BatchHandler> {
    bench: Arc<Bench<H>>,
    inbox: mpsc::Receiver<TaskOf<H>>,
    left: Arc<Notify>,
    lanes: Lanes<TaskOf<H>>,
    costs: Costs,
    backpressure: Backpressure,
    aside: Aside<H>,
    /// Taken from their lanes, to run one by one: work that failed before, so that it cannot fail its neighbours
    /// again, work that its handler wants to run alone, and entries that cannot be read.
    alone: VecDeque<RunOf<H>>,
    batch_was_last: bool,
    dear_was_last: bool,
    running: JoinSet<EndedBatch<H>>,
    /// Running batches of dear parties.
    dear: JoinSet<EndedBatch<H>>,
    /// How to cancel running work, by key; of handlers that take one piece a call.
    cancels: HashMap<String, CancellationToken>,
    /// Size of the batch before, and when the next may begin whatever its size.
    last: usize,
    gathered_at: Instant,
}

impl<H: BatchHandler> Dispatcher<H> {
    /// Returns a dispatcher, and the way into it. `broker` acknowledges the entries of streams; `dead_letters`
    /// keeps the entries that failed for good, as far as the handler does not record them itself.
    pub fn new(
        handler: Arc<H>,
        broker: Option<Arc<dyn Broker>>,
        dead_letters: Arc<dyn DeadLetterSink>,
        clock: Arc<dyn Clock>,
        config: ConsumerConfig,
    ) -> (Self, Submitter<H>) {
        let (sender, inbox) = mpsc::channel(config.max_batch.max(1) * 2);
        let left = Arc::new(Notify::new());
        let lower = Arc::new(Semaphore::new((config.capacity / 2).clamp(1, Semaphore::MAX_PERMITS)));
        let aside = Aside::new(&config);
        let lanes = Lanes::new(config.capacity).coalescing(config.coalesce);
        let this = Self {
            bench: Arc::new(Bench { handler, broker, dead_letters, clock, config }),
            inbox,
            left: Arc::clone(&left),
            lanes,
            costs: Costs::default(),
            backpressure: Backpressure::default(),
            aside,
            alone: VecDeque::new(),
            batch_was_last: false,
            dear_was_last: false,
            running: JoinSet::new(),
            dear: JoinSet::new(),
            cancels: HashMap::new(),
            last: 0,
            gathered_at: Instant::now(),
        };
        let backpressure = this.backpressure.clone();
        (this, Submitter { inbox: sender, left, lower, backpressure })
    }

    fn config(&self) -> &ConsumerConfig {
        &self.bench.config
    }

    /// Runs until `stop`, or until every [`Submitter`] is gone; then finishes the entries handed in.
    pub async fn run(mut self, stop: CancellationToken) {
        let left = Arc::clone(&self.left);
        let mut open = true;
        loop {
            self.lanes.release(self.bench.clock.now());
            // First: it may free lanes, whose next entries are then ready.
            for over in self.aside.start(&self.bench) {
                self.lanes.finished(over.first.key());
            }
            let gathering = self.start_batches();
            // Entries go in many ways: they are done, or left to the next owner of their partition.
            self.backpressure.relieve(self.config().capacity, |party| self.lanes.held_by(party));
            if !open && self.lanes.is_empty() && self.at_once() == 0 {
                return;
            }
            // Read after `start_batches`: a piece that is the next owner's does not start and frees its lane, whose next
            // entry may wait for a moment. A value from before would never wake the dispatcher.
            let pause = self.lanes.next_moment().map(|at| at.since(self.bench.clock.now()));
            tokio::select! {
                Some(ended) = self.running.join_next(), if !self.running.is_empty() => match ended {
                    Ok(batch) => self.settle(batch),
                    // Panics are caught inside; a batch is never aborted.
                    Err(error) => tracing::error!(consumer = self.config().name, %error, "a batch was lost"),
                },
                Some(ended) = self.dear.join_next(), if !self.dear.is_empty() => match ended {
                    Ok(batch) => self.settle(batch),
                    Err(error) => tracing::error!(consumer = self.config().name, %error, "a batch was lost"),
                },
                Some(ended) = self.aside.running.join_next(), if !self.aside.running.is_empty() => match ended {
                    Ok(batch) => {
                        self.aside.ended(&batch);
                        self.settle(batch);
                    }
                    Err(error) => tracing::error!(consumer = self.config().name, %error, "work was lost"),
                },
                task = self.inbox.recv(), if open && self.lanes.room() > 0 => match task {
                    Some(task) => self.admit(task),
                    None => open = false,
                },
                () = left.notified() => drop(self.lanes.abandon_later(Task::is_left)),
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                () = tokio::time::sleep_until(self.gathered_at), if gathering => {}
                // The entries in the inbox are still taken; nothing more gets in.
                () = stop.cancelled(), if !self.inbox.is_closed() => self.inbox.close(),
            }
        }
    }

    /// Takes `first` and whatever else is there already, so that a batch can be as large as the load.
    fn admit(&mut self, first: TaskOf<H>) {
        let now = self.bench.clock.now();
        let mut next = Some(first);
        while let Some(task) = next {
            // Entries before it in its lane may be gone with their partition, so the next owner gets all of them.
            if !task.is_left() {
                self.offer(task, now);
            }
            next = if self.lanes.room() > 0 { self.inbox.try_recv().ok() } else { None };
        }
        self.gauge();
    }

    fn offer(&mut self, task: TaskOf<H>, now: Timestamp) {
        let turn = match &task {
            Task::Event(item) => {
                let turn = self.bench.handler.turn(&item.event);
                // A submitter is told the end of its own event, so that one is a piece by itself.
                Turn { joins: turn.joins && item.reply.is_none(), ..turn }
            }
            Task::Unreadable(_) => Turn::default(),
        };
        let key = task.key().to_owned();
        match self.lanes.offer(&key, task, turn, now) {
            Ok(Offered::Waits) => {}
            Ok(Offered::Cancels) => {
                if let Some(cancel) = self.cancels.get(&key) {
                    cancel.cancel();
                }
            }
            Err(_) => {
                tracing::error!(consumer = self.config().name, key, "offered work beyond the room there is");
            }
        }
        let held = self.lanes.held_by(turn.party);
        if self.backpressure.handed_in(turn.party, held, self.config().capacity) {
            tracing::warn!(
                consumer = self.config().name,
                key,
                held,
                "more events wait of one tenant than its share, so gateways refuse more of them"
            );
        }
    }

    /// Starts as much as may run at once: by turns a batch and an entry that runs alone, so that neither waits for
    /// the end of the other. Returns whether the ready entries wait for more: the caller calls again at `gathered_at`.
    fn start_batches(&mut self) -> bool {
        while self.at_once() < self.config().parallel {
            let gathering = self.gathering();
            let is_gathered = self.lanes.ready() > 0 && !gathering;
            if is_gathered && (self.alone.is_empty() || !self.batch_was_last) && self.start_batch() {
                self.batch_was_last = true;
            } else if let Some(run) = self.alone.pop_front() {
                self.batch_was_last = false;
                self.start_alone(run);
            } else {
                // Not asked again: the wait may have ended by now, and nobody would call at its end.
                return gathering;
            }
        }
        false
    }

    /// Returns how many batches run.
    fn at_once(&self) -> usize {
        self.running.len() + self.dear.len()
    }

    /// Starts a batch, by turns one of dear parties and one of the others. Returns whether any lane had a piece for it.
    fn start_batch(&mut self) -> bool {
        let places = self.config().dear_batches();
        if places == 0 || self.costs.are_negligible() {
            return self.start_batch_of(Share::All);
        }
        let by_turns =
            if self.dear_was_last { [Share::Cheap, Share::Dear] } else { [Share::Dear, Share::Cheap] };
        for share in by_turns {
            let has_place = share == Share::Cheap || self.dear.len() < places;
            if has_place && self.start_batch_of(share) {
                self.dear_was_last = share == Share::Dear;
                return true;
            }
        }
        false
    }

    fn start_batch_of(&mut self, share: Share) -> bool {
        let one_by_one = self.bench.handler.one_by_one();
        let most = if one_by_one { 1 } else { self.config().max_batch };
        let mut batch = Vec::new();
        let max_cost = u64::try_from(self.config().max_cost.as_nanos()).unwrap_or(u64::MAX);
        let costs = &self.costs;
        let admits = |party| match share {
            Share::All => true,
            Share::Cheap => costs.expected(party) == 0,
            Share::Dear => costs.expected(party) > 0,
        };
        let taken = self.lanes.take_within(most, max_cost, |party| costs.expected(party), admits);
        if taken.is_empty() {
            return false;
        }
        for (key, run) in taken {
            match &run.first {
                // The next owner gets it.
                task if task.is_over() => self.lanes.finished(&key),
                _ if one_by_one => self.start_alone(run),
                Task::Event(item) if item.attempts == 0 && !self.bench.handler.runs_alone(&item.event) => {
                    batch.extend(Work::of(run).ok());
                }
                _ => self.alone.push_back(run),
            }
        }
        self.last = batch.len();
        self.gathered_at = Instant::now() + self.config().gather;
        if !batch.is_empty() {
            let tasks = if share == Share::Dear { &mut self.dear } else { &mut self.running };
            self.bench.spawn(tasks, batch);
        }
        true
    }

    fn start_alone(&mut self, run: RunOf<H>) {
        // It may have waited here for long.
        if run.first.is_over() {
            self.lanes.finished(run.first.key());
            return;
        }
        match Work::of(run) {
            Ok(mut work) => {
                if self.bench.handler.one_by_one() {
                    let origin = work.first.origin.as_ref();
                    let cancel =
                        origin.map(|origin| origin.ownership.alive.child_token()).unwrap_or_default();
                    self.cancels.insert(work.key().to_owned(), cancel.clone());
                    work.cancel = Some(cancel);
                }
                self.bench.spawn(&mut self.running, vec![work]);
            }
            Err(unreadable) => {
                let bench = Arc::clone(&self.bench);
                self.running.spawn(async move { bench.run_unreadable(unreadable).await });
            }
        }
    }

    /// Returns whether the ready entries wait for more.
    fn gathering(&self) -> bool {
        let few = (1..self.last).contains(&self.lanes.ready());
        few && Instant::now() < self.gathered_at
    }

    fn settle(&mut self, batch: EndedBatch<H>) {
        self.gathered_at = Instant::now() + self.config().gather;
        for (mut run, ended) in batch {
            let key = run.first.key().to_owned();
            self.cancels.remove(&key);
            match ended {
                Ended::Done(cost) => {
                    self.costs.note(run.turn.party, cost);
                    self.lanes.finished(&key);
                }
                Ended::Failed => match run.superseded.take() {
                    Some(superseded) => self.lanes.revive(&key, *superseded),
                    None => self.lanes.finished(&key),
                },
                // Let go with all behind it: nothing of the key may run here before it.
                Ended::Again(_) | Ended::Split | Ended::Dropped | Ended::Aside if run.first.is_left() => {
                    drop(self.lanes.abandon(&key));
                }
                Ended::Again(pause) => self.lanes.postpone(&key, run, self.bench.clock.now() + pause),
                Ended::Split => self.lanes.split(&key, run),
                Ended::Aside => {
                    if let Err(run) = self.aside.push(run) {
                        self.lanes.postpone(&key, *run, self.bench.clock.now());
                    }
                }
                Ended::Dropped => {
                    if let Err(run) = self.lanes.supersede(&key, run) {
                        self.lanes.postpone(&key, run, self.bench.clock.now());
                    }
                }
            }
        }
        self.gauge();
    }

    fn gauge(&self) {
        metrics::gauge!("flowsdk_consumer_held", "consumer" => self.config().name)
            .set(self.lanes.len() as f64);
    }
}
