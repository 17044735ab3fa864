//! The in-process [`Broker`].

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::stream::broker::{Broker, BrokerError, Entry, NewEntry, StreamReader, Tails};
use flowsdk_core::stream::topic::{StreamPartition, partition_of};
use tokio::sync::Notify;

/// Most entries that a stream holds while no group and no tail reads it.
const UNREAD: usize = 10_000;

/// The group was opened by a later owner; this reader reads no more.
#[derive(Debug, thiserror::Error)]
#[error("another consumer has opened the group")]
struct Superseded;

/// Streams in this process. Clones share them. An entry is held until every group that was ever
/// opened on its stream has acknowledged it and every open tail has read it; the newest 10,000 where
/// nobody reads.
#[derive(Debug, Clone)]
pub struct MemoryBroker {
    partitions: u32,
    streams: Arc<Mutex<HashMap<StreamPartition, Arc<Stream>>>>,
}

#[derive(Debug, Default)]
struct Stream {
    state: Mutex<State>,
    published: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The entry at `entries[i]` has the number `first + i`.
    entries: VecDeque<(String, String)>,
    first: u64,
    groups: HashMap<String, Group>,
    /// The number of the next entry of each open tail.
    tails: HashMap<u64, u64>,
    next_tail: u64,
}

#[derive(Debug, Default)]
struct Group {
    /// The next number that no owner has read.
    next: u64,
    /// Read and not acknowledged.
    pending: BTreeSet<u64>,
    /// Which owner it is; an older one is refused.
    owner: u64,
}

impl State {
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn entry(&self, number: u64) -> Option<Entry> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let (key, payload) = self.entries.get(at)?;
        Some(Entry { id: number.to_string(), key: key.clone(), payload: payload.clone() })
    }

    /// Drops the entries that every group has acknowledged.
    fn sweep(&mut self) {
        let groups = self.groups.values().map(|group| group.pending.first().copied().unwrap_or(group.next));
        let needed = groups.chain(self.tails.values().copied()).min();
        let needed = needed.unwrap_or_else(|| self.end().saturating_sub(UNREAD as u64));
        while self.first < needed && self.entries.pop_front().is_some() {
            self.first += 1;
        }
    }
}

impl Stream {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `read` until it returns something, at most for `wait`.
    async fn wait_for<E>(
        &self,
        wait: Duration,
        mut read: impl FnMut(&mut State) -> Result<Vec<Entry>, E>,
    ) -> Result<Vec<Entry>, E> {
        let attempts = async {
            loop {
                // Listens before it looks, so that nothing published in between is missed.
                let mut published = pin!(self.published.notified());
                published.as_mut().enable();
                let entries = read(&mut self.state())?;
                if !entries.is_empty() {
                    return Ok(entries);
                }
                published.await;
            }
        };
        tokio::time::timeout(wait, attempts).await.unwrap_or_else(|_| Ok(Vec::new()))
    }
}

impl MemoryBroker {
    /// An empty broker with `partitions` (at least 1) of each stream.
    pub fn new(partitions: u32) -> Self {
        Self { partitions: partitions.max(1), streams: Arc::default() }
    }

    fn stream(&self, stream: StreamPartition) -> Arc<Stream> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(streams.entry(stream).or_default())
    }
}

impl Default for MemoryBroker {
    fn default() -> Self {
        Self::new(1)
    }
}

#[async_trait]
impl Broker for MemoryBroker {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    async fn publish(&self, entries: &[NewEntry]) -> Result<(), BrokerError> {
        for entry in entries {
            let index = partition_of(&entry.key, self.partitions);
            let stream = self.stream(StreamPartition { topic: entry.topic, index });
            let mut state = stream.state();
            state.entries.push_back((entry.key.clone(), entry.payload.clone()));
            state.sweep();
            drop(state);
            stream.published.notify_waiters();
        }
        Ok(())
    }

    async fn open(
        &self,
        stream: StreamPartition,
        group: &str,
        _consumer: &str,
    ) -> Result<Box<dyn StreamReader>, BrokerError> {
        let stream = self.stream(stream);
        let owner = {
            let mut state = stream.state();
            let first = state.first;
            let opened = state
                .groups
                .entry(group.to_owned())
                .or_insert_with(|| Group { next: first, ..Group::default() });
            opened.owner += 1;
            opened.owner
        };
        // An owner that still waits learns now that it was replaced.
        stream.published.notify_waiters();
        Ok(Box::new(GroupReader { stream, group: group.to_owned(), owner, next: 0 }))
    }

    async fn ack(&self, stream: StreamPartition, group: &str, ids: &[String]) -> Result<(), BrokerError> {
        let stream = self.stream(stream);
        let mut state = stream.state();
        if let Some(group) = state.groups.get_mut(group) {
            for number in ids.iter().filter_map(|id| id.parse().ok()) {
                group.pending.remove(&number);
            }
        }
        state.sweep();
        Ok(())
    }

    async fn backlog(&self, stream: StreamPartition, group: &str) -> Result<u64, BrokerError> {
        let stream = self.stream(stream);
        let state = stream.state();
        Ok(match state.groups.get(group) {
            Some(group) => group.pending.len() as u64 + (state.end() - group.next),
            None => state.entries.len() as u64,
        })
    }
}

#[async_trait]
impl Tails for MemoryBroker {
    async fn tail(&self, stream: StreamPartition) -> Result<Box<dyn StreamReader>, BrokerError> {
        let stream = self.stream(stream);
        let tail = {
            let mut state = stream.state();
            let (tail, end) = (state.next_tail, state.end());
            state.next_tail += 1;
            state.tails.insert(tail, end);
            tail
        };
        Ok(Box::new(TailReader { stream, tail }))
    }
}

#[derive(Debug)]
struct GroupReader {
    stream: Arc<Stream>,
    group: String,
    owner: u64,
    /// The least number that this reader has not given.
    next: u64,
}

#[async_trait]
impl StreamReader for GroupReader {
    async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError> {
        let (group, owner, next) = (&self.group, self.owner, &mut self.next);
        let read = |state: &mut State| -> Result<Vec<Entry>, BrokerError> {
            let end = state.end();
            let group = match state.groups.get_mut(group) {
                Some(group) if group.owner == owner => group,
                _ => return Err(BrokerError::Unavailable(Box::new(Superseded))),
            };
            let left = group.pending.range(*next..group.next).copied();
            let numbers: Vec<u64> = left.chain(group.next..end).take(count).collect();
            if let Some(last) = numbers.last() {
                *next = last + 1;
                group.pending.extend(numbers.iter().copied());
                group.next = group.next.max(*next);
            }
            Ok(numbers.into_iter().filter_map(|number| state.entry(number)).collect())
        };
        self.stream.wait_for(wait, read).await
    }
}

#[derive(Debug)]
struct TailReader {
    stream: Arc<Stream>,
    tail: u64,
}

#[async_trait]
impl StreamReader for TailReader {
    async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError> {
        let tail = self.tail;
        let read = |state: &mut State| -> Result<Vec<Entry>, BrokerError> {
            let from = state.tails.get(&tail).copied().unwrap_or_else(|| state.end());
            let entries: Vec<_> =
                (from..state.end()).take(count).filter_map(|number| state.entry(number)).collect();
            state.tails.insert(tail, from + entries.len() as u64);
            state.sweep();
            Ok(entries)
        };
        self.stream.wait_for(wait, read).await
    }
}

impl Drop for TailReader {
    fn drop(&mut self) {
        let mut state = self.stream.state();
        state.tails.remove(&self.tail);
        state.sweep();
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::stream::topic::TopicName;

    use super::*;

    const STREAM: StreamPartition = StreamPartition { topic: TopicName::Flow, index: 0 };

    fn entries(count: usize) -> Vec<NewEntry> {
        let entry = NewEntry { topic: TopicName::Flow, key: "k".into(), payload: "{}".into() };
        vec![entry; count]
    }

    fn held(broker: &MemoryBroker) -> usize {
        broker.stream(STREAM).state().entries.len()
    }

    #[tokio::test]
    async fn entries_are_held_as_long_as_somebody_needs_them() {
        let broker = MemoryBroker::new(1);
        let mut reader = broker.open(STREAM, "g", "c").await.expect("open");
        let mut tail = broker.tail(STREAM).await.expect("tail");
        broker.publish(&entries(10)).await.expect("publish");
        let read = reader.read(10, Duration::ZERO).await.expect("read");
        let ids: Vec<_> = read.into_iter().map(|entry| entry.id).collect();
        broker.ack(STREAM, "g", &ids[1..]).await.expect("ack");
        assert_eq!(held(&broker), 10);
        broker.ack(STREAM, "g", &ids[..1]).await.expect("ack");
        assert_eq!(held(&broker), 10);
        tail.read(4, Duration::ZERO).await.expect("read");
        assert_eq!(held(&broker), 6);
        drop(tail);
        assert_eq!(held(&broker), 0);
    }

    #[tokio::test]
    async fn a_stream_that_nobody_reads_is_bounded() {
        let broker = MemoryBroker::new(1);
        broker.publish(&entries(UNREAD + 5)).await.expect("publish");
        assert_eq!(held(&broker), UNREAD);
    }

    #[tokio::test]
    async fn a_former_owner_is_refused() {
        let broker = MemoryBroker::new(1);
        let mut former = broker.open(STREAM, "g", "one").await.expect("open");
        let _present = broker.open(STREAM, "g", "two").await.expect("open");
        assert!(former.read(1, Duration::ZERO).await.is_err());
    }
}
