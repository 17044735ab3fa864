//! Handlers that take one piece of work a call.

use std::fmt;
use std::marker::PhantomData;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{BatchHandler, Verdict, Work};
use crate::stream::broker::{Entry, NewEntry};
use crate::stream::lanes::{Class, Party, Turn};
use crate::stream::topic::{Topic, TopicName};

/// Handles the events of one topic, one piece of work a call. For work that is slow or external.
///
/// Up to [`ConsumerConfig::parallel`](super::ConsumerConfig) calls run at once, each for another key.
#[async_trait]
pub trait Handler<T: Topic>: Send + Sync + 'static {
    /// Handles a piece of work: one event, or with [`ConsumerConfig::coalesce`](super::ConsumerConfig) several of one
    /// key, in order. It is called again with the same events after a crash or a `Retry`: its effects must be those of
    /// one call.
    ///
    /// `cancel` is cancelled when an entry preempts the work, or when its partition is lost. The handler then ends
    /// soon: with `Done` when the effects are durable, with `Dropped` when it left none, or with `Retry`, which is not
    /// counted as a failure and runs after the entry that preempted it.
    async fn handle(&self, work: &Work<T::Event, ()>, cancel: &CancellationToken) -> Verdict<()>;

    /// Returns whether the event cancels the running work of its key and runs next in its lane.
    fn preempts(&self, _event: &T::Event) -> bool {
        false
    }

    /// Returns whether the event may be part of a piece of several events.
    fn joins(&self, _event: &T::Event) -> bool {
        true
    }

    /// Returns for whom the event is handled. Parties take turns.
    fn party(&self, _event: &T::Event) -> Party {
        Party::NOBODY
    }

    /// Returns the priority class of the event.
    fn class(&self, _event: &T::Event) -> Class {
        Class::LIVE
    }
}

/// A [`Handler`] as a [`BatchHandler`]: each piece of work is a batch of its own.
pub struct Each<T, H> {
    handler: H,
    topic: PhantomData<fn() -> T>,
}

impl<T: Topic, H: Handler<T>> Each<T, H> {
    /// Adapts a handler of single events to batches.
    pub fn new(handler: H) -> Self {
        Self { handler, topic: PhantomData }
    }
}

impl<T, H: fmt::Debug> fmt::Debug for Each<T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Each").field(&self.handler).finish()
    }
}

#[async_trait]
impl<T: Topic + 'static, H: Handler<T>> BatchHandler for Each<T, H> {
    type Event = T::Event;
    type Output = ();

    fn parse(&self, topic: TopicName, entry: &Entry) -> Result<T::Event, String> {
        if topic != T::NAME {
            return Err(format!("{} is not {}", topic.name(), T::NAME.name()));
        }
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<T::Event, ()>]) -> Vec<Verdict<()>> {
        let mut verdicts = Vec::with_capacity(batch.len());
        for work in batch {
            verdicts.push(self.handler.handle(work, &work.cancel_token()).await);
        }
        verdicts
    }

    fn turn(&self, event: &T::Event) -> Turn {
        let Self { handler, .. } = self;
        let (class, party) = (handler.class(event), handler.party(event));
        Turn { class, party, joins: handler.joins(event), preempts: handler.preempts(event) }
    }

    fn one_by_one(&self) -> bool {
        true
    }

    fn entry(&self, event: &T::Event) -> Option<NewEntry> {
        Some(NewEntry::of::<T>(event))
    }
}
