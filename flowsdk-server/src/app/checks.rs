//! The checks of `/readyz`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::fault::Chain;
use flowsdk_core::kv::KeyValue;
use flowsdk_core::lease::lease_key;
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
use flowsdk_core::time::{Clock, Timestamp};
use flowsdk_store::redis::Redis;
use flowsdk_store::sql::SqlStore;

use crate::health::Dependency;

/// Passes while the database answers.
pub(super) struct Database(pub(super) Arc<SqlStore>);

#[async_trait]
impl Dependency for Database {
    fn name(&self) -> &'static str {
        "database"
    }

    async fn check(&self) -> Result<(), String> {
        self.0.ping().await.map_err(|error| Chain(&error).to_string())
    }
}

/// Passes while Redis answers and takes writes.
pub(super) struct RedisServer(pub(super) Redis);

#[async_trait]
impl Dependency for RedisServer {
    fn name(&self) -> &'static str {
        "redis"
    }

    async fn check(&self) -> Result<(), String> {
        self.0.ping().await.map_err(|error| error.to_string())
    }
}

/// Entries of a partition that may wait before somebody looks whether its consumer goes on.
const BACKLOG_LIMIT: u64 = 10_000;
/// How long a consumer may read nothing although so many wait.
const STANDSTILL: Duration = Duration::from_secs(30);

/// Passes while every partition of a stream has a consumer that goes on. A dead consumer behind a gateway that still
/// accepts messages would otherwise go unseen. However many entries wait, a consumer that goes on is well: the flood
/// of one tenant is not to shut the others out.
pub(super) struct Consumed {
    pub(super) name: &'static str,
    pub(super) broker: Arc<dyn Broker>,
    pub(super) kv: Arc<dyn KeyValue>,
    pub(super) topic: TopicName,
    pub(super) group: &'static str,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) standing: Mutex<Standing>,
}

/// The partitions in which too many entries wait, with the entry that was read last and since when that is so.
#[derive(Debug, Default)]
pub(super) struct Standing(HashMap<u32, (Option<String>, Timestamp)>);

impl Standing {
    /// Returns whether nothing was read for [`STANDSTILL`] while too many waited.
    fn is_stuck(&mut self, partition: u32, last_read: Option<String>, now: Timestamp) -> bool {
        let since = match self.0.get(&partition) {
            Some((before, since)) if *before == last_read => *since,
            _ => now,
        };
        self.0.insert(partition, (last_read, since));
        now.since(since) >= STANDSTILL
    }

    fn forget(&mut self, partition: u32) {
        self.0.remove(&partition);
    }
}

impl Consumed {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        // Nothing panics while it holds the lock.
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Dependency for Consumed {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn check(&self) -> Result<(), String> {
        for index in 0..self.broker.partitions() {
            let lease = lease_key(&format!("{}:{index}", self.group));
            match self.kv.get(lease.as_str()).await {
                Ok(Some(_owner)) => {}
                Ok(None) => return Err(format!("nobody consumes partition {index}")),
                Err(error) => return Err(Chain(&error).to_string()),
            }
            let stream = StreamPartition { topic: self.topic, index };
            match self.broker.backlog(stream, self.group).await {
                Ok(waiting) if waiting <= BACKLOG_LIMIT => self.standing().forget(index),
                Ok(waiting) => {
                    let last_read = self.broker.last_read(stream, self.group).await;
                    let last_read = last_read.map_err(|error| Chain(&error).to_string())?;
                    if self.standing().is_stuck(index, last_read, self.clock.now()) {
                        return Err(format!("{waiting} entries wait in partition {index}, and none is read"));
                    }
                }
                Err(error) => return Err(Chain(&error).to_string()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consumer_that_reads_is_well_however_many_wait() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let id = |text: &str| Some(text.to_owned());
        let mut standing = Standing::default();
        for (seconds, read) in [(0, "1-0"), (29, "1-0"), (30, "2-0"), (59, "2-0"), (70, "3-0")] {
            assert!(!standing.is_stuck(0, id(read), at(seconds)), "{seconds} {read}");
        }
        assert!(!standing.is_stuck(1, None, at(99)), "another partition");
        assert!(standing.is_stuck(0, id("3-0"), at(100)));
        standing.forget(0);
        assert!(!standing.is_stuck(0, id("3-0"), at(101)), "it was well meanwhile");
    }
}
