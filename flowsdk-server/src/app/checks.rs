//! The checks of `/readyz`.

use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::fault::Chain;
use flowsdk_core::kv::KeyValue;
use flowsdk_core::lease::lease_key;
use flowsdk_core::stream::broker::Broker;
use flowsdk_core::stream::topic::{StreamPartition, TopicName};
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

/// Passes while Redis answers.
pub(super) struct RedisServer(pub(super) Redis);

#[async_trait]
impl Dependency for RedisServer {
    fn name(&self) -> &'static str {
        "redis"
    }

    async fn check(&self) -> Result<(), String> {
        self.0.ping().await.map_err(|_| "not reachable".to_owned())
    }
}

/// Entries of a partition that may wait before a consumer counts as missing or too slow.
const BACKLOG_LIMIT: u64 = 10_000;

/// Passes while every partition of a stream has a consumer that keeps up. A dead consumer behind a
/// gateway that still accepts messages would otherwise go unseen.
pub(super) struct Consumed {
    pub(super) name: &'static str,
    pub(super) broker: Arc<dyn Broker>,
    pub(super) kv: Arc<dyn KeyValue>,
    pub(super) topic: TopicName,
    pub(super) group: &'static str,
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
                Ok(waiting) if waiting <= BACKLOG_LIMIT => {}
                Ok(waiting) => return Err(format!("{waiting} entries wait in partition {index}")),
                Err(error) => return Err(Chain(&error).to_string()),
            }
        }
        Ok(())
    }
}
