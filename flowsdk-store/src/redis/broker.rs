//! The [`Broker`] over Redis Streams.

use std::sync::LazyLock;
use std::time::Duration;

use ::redis::streams::StreamInfoGroupsReply;
use ::redis::{Script, cmd, pipe};
use async_trait::async_trait;
use flowsdk_core::stream::broker::{Broker, BrokerError, NewEntry, StreamReader, Tails};
use flowsdk_core::stream::topic::{StreamPartition, TopicName, partition_of};

use super::reader::{GroupReader, TailReader};
use super::{Redis, boxed};

static BACKLOG: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/backlog.lua")));
static TRIM: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/trim.lua")));

/// Most entries that one transaction appends, and most bytes: the server does nothing else meanwhile.
const BATCH: usize = 1_000;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Most ids in one acknowledgement.
const ACK_BATCH: usize = 5_000;

/// Unread entries that a backlog counts; of more it tells what the server believes.
const COUNTED: usize = 20_000;

/// The fields of an entry.
pub(super) const KEY: &str = "key";
pub(super) const PAYLOAD: &str = "payload";

/// The entries that [`RedisBroker::trim`] leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrimPolicy {
    /// Entries younger than this stay although every group has acknowledged them, for tails that lag and
    /// groups that are not opened yet.
    pub keep: Duration,
    /// Most entries of a stream that no group reads.
    pub without_groups: usize,
    /// Streams that are followed by tails. Where they have no group, the age alone counts.
    pub followed: &'static [TopicName],
}

impl Default for TrimPolicy {
    fn default() -> Self {
        Self { keep: Duration::from_secs(5 * 60), without_groups: 100_000, followed: &[] }
    }
}

/// Streams in Redis. Entries stay until [`trim`](Self::trim) drops them; call it now and then.
#[derive(Debug, Clone)]
pub struct RedisBroker {
    redis: Redis,
    partitions: u32,
}

fn unavailable(error: ::redis::RedisError) -> BrokerError {
    BrokerError::Unavailable(boxed(error))
}

/// Returns whether `text` is an id that Redis can have given; it refuses a whole acknowledgement for one that is not.
fn is_id(text: &str) -> bool {
    let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit()) && part.parse::<u64>().is_ok();
    text.split_once('-').is_some_and(|(millis, sequence)| number(millis) && number(sequence))
}

impl RedisBroker {
    pub(super) fn new(redis: Redis, partitions: u32) -> Self {
        Self { redis, partitions: partitions.max(1) }
    }

    /// The key of a stream.
    fn stream(&self, stream: StreamPartition) -> String {
        self.redis.key(&stream.name(self.partitions))
    }

    /// Drops the entries that all groups of a stream have acknowledged, as far as `policy` allows. Returns
    /// the number of dropped entries. An entry that a known group has not acknowledged is never dropped.
    ///
    /// # Errors
    /// When the server does not answer; some streams may be done.
    pub async fn trim(&self, policy: TrimPolicy) -> Result<u64, BrokerError> {
        let age = u64::try_from(policy.keep.as_millis()).unwrap_or(u64::MAX);
        let most = i64::try_from(policy.without_groups).unwrap_or(i64::MAX);
        let mut dropped = 0;
        for topic in TopicName::ALL {
            for index in 0..self.partitions {
                let stream = self.stream(StreamPartition { topic, index });
                let mut trim = TRIM.key(stream);
                let most = if policy.followed.contains(&topic) { -1 } else { most };
                trim.arg(age).arg(most);
                let gone: u64 =
                    trim.invoke_async(&mut self.redis.shared.clone()).await.map_err(unavailable)?;
                dropped += gone;
            }
        }
        Ok(dropped)
    }
}

#[async_trait]
impl Broker for RedisBroker {
    fn partitions(&self) -> u32 {
        self.partitions
    }

    async fn publish(&self, entries: &[NewEntry]) -> Result<(), BrokerError> {
        let mut rest = entries;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = rest.iter().take(BATCH).take_while(|entry| {
                let before = bytes;
                bytes += entry.payload.len();
                before == 0 || bytes <= BATCH_BYTES
            });
            let (batch, after) = rest.split_at(fits.count().max(1));
            let mut pipe = pipe();
            if batch.len() > 1 {
                // Were the entries refused one by one, a later one could get in before an earlier.
                pipe.atomic();
            }
            for entry in batch {
                let index = partition_of(&entry.key, self.partitions);
                let stream = self.stream(StreamPartition { topic: entry.topic, index });
                pipe.cmd("XADD")
                    .arg(stream)
                    .arg("*")
                    .arg(KEY)
                    .arg(&entry.key)
                    .arg(PAYLOAD)
                    .arg(&entry.payload)
                    .ignore();
            }
            pipe.exec_async(&mut self.redis.shared.clone()).await.map_err(unavailable)?;
            rest = after;
        }
        Ok(())
    }

    async fn open(
        &self,
        stream: StreamPartition,
        group: &str,
        consumer: &str,
    ) -> Result<Box<dyn StreamReader>, BrokerError> {
        let stream = self.stream(stream);
        let reader = GroupReader::open(self.redis.client.clone(), stream, group, consumer).await;
        Ok(Box::new(reader.map_err(unavailable)?))
    }

    async fn ack(&self, stream: StreamPartition, group: &str, ids: &[String]) -> Result<(), BrokerError> {
        let stream = self.stream(stream);
        let ids: Vec<_> = ids.iter().filter(|id| is_id(id)).collect();
        for ids in ids.chunks(ACK_BATCH) {
            let mut ack = cmd("XACK");
            ack.arg(&stream).arg(group).arg(ids);
            ack.exec_async(&mut self.redis.shared.clone()).await.map_err(unavailable)?;
        }
        Ok(())
    }

    async fn backlog(&self, stream: StreamPartition, group: &str) -> Result<u64, BrokerError> {
        let mut backlog = BACKLOG.key(self.stream(stream));
        backlog.arg(group).arg(COUNTED);
        backlog.invoke_async(&mut self.redis.shared.clone()).await.map_err(unavailable)
    }

    async fn last_read(&self, stream: StreamPartition, group: &str) -> Result<Option<String>, BrokerError> {
        let key = self.stream(stream);
        let groups: Result<StreamInfoGroupsReply, _> =
            cmd("XINFO").arg("GROUPS").arg(&key).query_async(&mut self.redis.shared.clone()).await;
        match groups {
            Ok(reply) => {
                let ours = reply.groups.into_iter().find(|known| known.name == group);
                Ok(ours.map(|group| group.last_delivered_id))
            }
            // There is no stream before its first entry or reader.
            Err(error) if error.detail().is_some_and(|told| told.contains("no such key")) => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }
}

#[async_trait]
impl Tails for RedisBroker {
    async fn tail(&self, stream: StreamPartition) -> Result<Box<dyn StreamReader>, BrokerError> {
        let reader = TailReader::open(self.redis.client.clone(), self.stream(stream)).await;
        Ok(Box::new(reader.map_err(unavailable)?))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_two_numbers() {
        assert!(super::is_id("1795085820050-0"));
        for text in ["", "-", "1", "1-", "-1", "1-2-3", "a-1", "+1-1", "99999999999999999999-1"] {
            assert!(!super::is_id(text), "{text:?}");
        }
    }
}
