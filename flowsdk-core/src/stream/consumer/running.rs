//! Runs a batch: calls the handler, records failures, acknowledges.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::task::JoinSet;

use super::work::{Item, Origin, RunOf, Task, Unreadable, WorkOf};
use super::{BatchHandler, ConsumerConfig, SetAside, SubmitError, Verdict};
use crate::fault::Chain;
use crate::stream::broker::Broker;
use crate::stream::dead_letter::{DeadLetterSink, FailedEntry};
use crate::stream::lanes::{Run, Turn};
use crate::stream::topic::StreamPartition;
use crate::time::{Clock, Timestamp};

/// How a piece of work ended.
pub(super) enum Ended {
    /// It is done, and so is the work that it superseded. It took this much processor time.
    Done(Duration),
    /// It ended without its effect: set aside, or given up by its submitter. The work that it superseded runs.
    Failed,
    /// It is tried again after this pause.
    Again(Duration),
    /// Its entries are tried one by one.
    Split,
    /// It was cancelled and left no effect.
    Dropped,
    /// It runs again, beside the batches.
    Aside,
}

/// Everything that a batch needs beside its entries.
pub(super) struct Bench<H> {
    pub(super) handler: Arc<H>,
    /// Acknowledges the entries of streams.
    pub(super) broker: Option<Arc<dyn Broker>>,
    pub(super) dead_letters: Arc<dyn DeadLetterSink>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) config: ConsumerConfig,
}

/// A batch that ended.
pub(super) type EndedBatch<H> = Vec<(RunOf<H>, Ended)>;

impl<H: BatchHandler> Bench<H> {
    /// Runs `batch` as a task of `tasks`.
    pub(super) fn spawn(self: &Arc<Self>, tasks: &mut JoinSet<EndedBatch<H>>, batch: Vec<WorkOf<H>>) {
        let bench = Arc::clone(self);
        tasks.spawn(async move { bench.run(batch).await });
    }

    async fn run(&self, batch: Vec<WorkOf<H>>) -> EndedBatch<H> {
        let name = self.config.name;
        metrics::histogram!("flowsdk_consumer_batch", "consumer" => name).record(batch.len() as f64);
        let verdicts = match AssertUnwindSafe(self.handler.handle(&batch)).catch_unwind().await {
            Ok(verdicts) if verdicts.len() == batch.len() => verdicts,
            Ok(_) => fail_all(batch.len(), "the handler answered for another number of events"),
            Err(_) => fail_all(batch.len(), "the handler panicked"),
        };
        let mut ended = Vec::with_capacity(batch.len());
        let mut acks = Acks::default();
        for (mut work, verdict) in batch.into_iter().zip(verdicts) {
            let end = self.settle(&mut work, verdict).await;
            match end {
                Ended::Done(_) => acks.add(work.origins().chain(work.superseded_origins())),
                Ended::Failed => acks.add(work.origins()),
                Ended::Again(_) | Ended::Split | Ended::Dropped | Ended::Aside => {}
            }
            ended.push((work.into_run(), end));
        }
        self.acknowledge(acks).await;
        ended
    }

    async fn settle(&self, work: &mut WorkOf<H>, verdict: Verdict<H::Output>) -> Ended {
        match verdict {
            Verdict::Done(output) => {
                let cost = self.handler.cost(&output);
                work.first.answer(Ok(output));
                Ended::Done(cost)
            }
            Verdict::Aside if !work.is_aside() => Ended::Aside,
            Verdict::Aside => {
                self.failed(work, false, None, "the handler set work aside that was aside").await
            }
            Verdict::Dropped if work.is_cancelled() => Ended::Dropped,
            Verdict::Dropped => {
                self.failed(work, false, None, "the handler dropped work that was not cancelled").await
            }
            // An interruption is not a fault of the event.
            Verdict::Retry { after, .. } if work.is_cancelled() => {
                Ended::Again(after.map_or(Duration::ZERO, |after| self.config.pause(0, Some(after))))
            }
            Verdict::Retry { transient, after, reason } => self.failed(work, transient, after, &reason).await,
        }
    }

    async fn failed(
        &self,
        work: &mut WorkOf<H>,
        transient: bool,
        after: Option<Duration>,
        reason: &str,
    ) -> Ended {
        let (name, now) = (self.config.name, self.clock.now());
        let item = &mut *work.first;
        item.attempts += 1;
        item.failed_at.get_or_insert(now);
        let attempts = item.attempts;
        metrics::counter!("flowsdk_consumer_failures", "consumer" => name).increment(1);
        tracing::warn!(consumer = name, key = item.key, attempts, transient, reason, "an event failed");
        if transient {
            let again = Ended::Again(self.config.pause_of_outage(attempts, after));
            if item.origin.is_some() || attempts < self.config.max_attempts {
                return again;
            }
            item.answer(Err(SubmitError::Unavailable));
            return Ended::Failed;
        }
        let again = Ended::Again(self.config.pause(attempts, after));
        // Counted apart, so that an outage does not use up the attempts of an event.
        item.faults += 1;
        if item.faults < self.config.max_attempts {
            return again;
        }
        if !work.rest.is_empty() {
            (item.attempts, item.faults, item.failed_at) = (0, 0, None);
            return Ended::Split;
        }
        match self.set_aside(item, reason, now).await {
            Ok(answer) => {
                item.answer(Err(answer));
                Ended::Failed
            }
            Err(error) => {
                tracing::error!(consumer = name, key = item.key, error, "poison could not be recorded");
                again
            }
        }
    }

    /// Records an event that failed for good.
    async fn set_aside(
        &self,
        item: &Item<H::Event, H::Output>,
        reason: &str,
        now: Timestamp,
    ) -> Result<SubmitError, String> {
        let handled = AssertUnwindSafe(self.handler.poison(&item.key, &item.event, reason)).catch_unwind();
        if handled.await.unwrap_or_else(|_| Err("the handler panicked".to_owned()))? == SetAside::Recorded {
            return Ok(SubmitError::SetAside);
        }
        let name = self.config.name;
        let (topic, group, source, payload) = match (&item.origin, self.handler.entry(&item.event)) {
            (Some(origin), _) => {
                (origin.stream.topic, origin.group, Some(source(origin)), item.payload.clone())
            }
            (None, Some(entry)) => (entry.topic, name, None, entry.payload),
            (None, None) => {
                tracing::error!(consumer = name, key = item.key, reason, "a submitted event failed");
                return Ok(SubmitError::Failed);
            }
        };
        let letter = FailedEntry {
            topic,
            group: group.to_owned(),
            source,
            key: item.key.clone(),
            payload,
            reason: reason.to_owned(),
            attempts: item.attempts,
            first_failed_at: item.failed_at.unwrap_or(now),
            failed_at: now,
        };
        self.record(letter).await.map(|()| SubmitError::SetAside)
    }

    async fn record(&self, letter: FailedEntry) -> Result<(), String> {
        let topic = letter.topic.name();
        self.dead_letters.record(&letter).await.map_err(|error| Chain(&error).to_string())?;
        let name = self.config.name;
        metrics::counter!("flowsdk_dead_letters_total", "consumer" => name, "topic" => topic).increment(1);
        tracing::error!(consumer = name, topic, key = letter.key, reason = letter.reason, "a dead letter");
        Ok(())
    }

    /// Has an unreadable entry recorded.
    pub(super) async fn run_unreadable(&self, mut unreadable: Box<Unreadable>) -> EndedBatch<H> {
        let name = self.config.name;
        let end = match self.set_unreadable_aside(&unreadable).await {
            Ok(()) => Ended::Failed,
            Err(error) => {
                metrics::counter!("flowsdk_consumer_failures", "consumer" => name).increment(1);
                let entry = &unreadable.entry.id;
                tracing::error!(consumer = name, entry, error, "an unreadable entry could not be set aside");
                unreadable.attempts += 1;
                unreadable.failed_at.get_or_insert_with(|| self.clock.now());
                Ended::Again(self.config.pause(unreadable.attempts, None))
            }
        };
        if matches!(end, Ended::Failed) {
            let mut acks = Acks::default();
            acks.add([&unreadable.origin].into_iter());
            self.acknowledge(acks).await;
        }
        vec![(Run::of(Turn::default(), Task::Unreadable(unreadable)), end)]
    }

    async fn set_unreadable_aside(&self, unreadable: &Unreadable) -> Result<(), String> {
        let Unreadable { entry, reason, origin, attempts, failed_at } = unreadable;
        let handled = self.handler.unreadable(origin.stream.topic, entry, reason);
        let handled = AssertUnwindSafe(handled).catch_unwind().await;
        if handled.unwrap_or_else(|_| Err("the handler panicked".to_owned()))? == SetAside::Recorded {
            return Ok(());
        }
        let now = self.clock.now();
        self.record(FailedEntry {
            topic: origin.stream.topic,
            group: origin.group.to_owned(),
            source: Some(source(origin)),
            key: entry.key.clone(),
            payload: entry.payload.clone(),
            reason: reason.clone(),
            attempts: attempts + 1,
            first_failed_at: failed_at.unwrap_or(now),
            failed_at: now,
        })
        .await
    }

    /// Acknowledges finished entries, one call a partition. An entry that cannot be acknowledged now is given again
    /// to the next owner, and handled as a repetition.
    async fn acknowledge(&self, acks: Acks) {
        let Some(broker) = &self.broker else { return };
        for ((stream, group), ids) in acks.0 {
            if let Err(error) = broker.ack(stream, group, &ids).await {
                let (consumer, entries) = (self.config.name, ids.len());
                tracing::warn!(consumer, %error, entries, "entries stay unacknowledged");
            }
        }
    }
}

/// Returns the entry among those of all streams and groups.
fn source(origin: &Origin) -> String {
    format!("{}:{}", origin.stream.index, origin.id)
}

/// Entries to acknowledge, by stream and group.
#[derive(Default)]
struct Acks(HashMap<(StreamPartition, &'static str), Vec<String>>);

impl Acks {
    fn add<'a>(&mut self, origins: impl Iterator<Item = &'a Origin>) {
        for origin in origins {
            self.0.entry((origin.stream, origin.group)).or_default().push(origin.id.clone());
        }
    }
}

fn fail_all<R>(len: usize, reason: &str) -> Vec<Verdict<R>> {
    (0..len).map(|_| Verdict::failed(reason)).collect()
}
