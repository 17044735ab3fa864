//! Adapters over Redis 7 or later: streams for the broker port, keys for the key-value port.
//!
//! Two kinds of connections: one that all short commands share and that reconnects by itself, and one for
//! each reader, because a read that waits holds up everything behind it on its connection.

mod broker;
mod key_value;
mod reader;

use std::fmt;
use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::{Client, RedisError};
use flowsdk_core::fault::BoxError;

pub use broker::{RedisBroker, TrimPolicy};
pub use key_value::RedisKeyValue;

/// How long a short command may take. A retry may repeat the effect of the command, so it is far above
/// the need of a healthy server. A visitor waits that long for `unavailable` when the server stands still.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a connection attempt may take.
const DIAL: Duration = Duration::from_secs(3);
/// How long the key stays that a check of the server writes.
const PROBE_STAYS: Duration = Duration::from_secs(10);

/// A Redis server. Clones share the connection.
#[derive(Clone)]
pub struct Redis {
    client: Client,
    shared: ConnectionManager,
    prefix: String,
}

impl fmt::Debug for Redis {
    // The address may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// Why a Redis server cannot be used now. The texts hold no address and no password.
#[derive(Debug, thiserror::Error)]
pub enum PingError {
    /// There is no connection, or no answer on it.
    #[error("not reachable")]
    NotReachable,
    /// It refuses writes, with the code of its error, such as `OOM` or `READONLY`.
    #[error("refuses writes ({0})")]
    Refused(String),
}

/// Connects to the server at `url` (`redis://` or `rediss://`).
///
/// # Errors
/// When the address is none, the server does not answer, or it is older than Redis 7. The text names the server
/// without its password.
pub async fn connect(url: &str) -> Result<Redis, BoxError> {
    let client = Client::open(url)?;
    let server = client.get_connection_info().addr().to_string();
    let (shared, version) = dial(&client).await.map_err(|error| {
        let why = if error.is_timeout() { "it does not answer".to_owned() } else { error.to_string() };
        format!("Redis at {server} cannot be used: {why}")
    })?;
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 7) {
        return Err(format!("Redis 7 or later is needed, {server} is {version:?}").into());
    }
    Ok(Redis { client, shared, prefix: String::new() })
}

/// Returns the connection that short commands share, and the version of the server.
async fn dial(client: &Client) -> Result<(ConnectionManager, String), RedisError> {
    // One attempt that may take its time, so that a start fails soon and with the first reason.
    let mut first = tokio::time::timeout(DIAL, client.get_multiplexed_async_connection())
        .await
        .unwrap_or_else(|_| Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()))?;
    let info: String = ::redis::cmd("INFO").arg("server").query_async(&mut first).await?;
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or_default();
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(ANSWER))
        .set_connection_timeout(Some(DIAL))
        // About a second in all: callers have a backoff of their own.
        .set_number_of_retries(4)
        .set_max_delay(Duration::from_millis(500))
        .set_pipeline_buffer_size(1_024);
    let shared = client.get_connection_manager_with_config(config).await?;
    Ok((shared, version.to_owned()))
}

impl Redis {
    /// The same server with `prefix` before every key, so that several can use it side by side.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Writes a key that is gone soon. A server that only reads, or whose memory is full, is of no use.
    ///
    /// # Errors
    /// [`PingError`].
    pub async fn ping(&self) -> Result<(), PingError> {
        let mut set = ::redis::cmd("SET");
        set.arg(self.key("probe")).arg(1).arg("PX").arg(PROBE_STAYS.as_millis() as u64);
        set.exec_async(&mut self.shared.clone()).await.map_err(|error| match error.code() {
            Some(code) => PingError::Refused(code.to_owned()),
            None => PingError::NotReachable,
        })
    }

    /// Streams with `partitions` (at least 1) each.
    pub fn broker(&self, partitions: u32) -> RedisBroker {
        RedisBroker::new(self.clone(), partitions)
    }

    /// Returns the key-value store on this server.
    pub fn key_values(&self) -> RedisKeyValue {
        RedisKeyValue::new(self.clone())
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

/// A source for the ports' errors.
fn boxed(error: RedisError) -> BoxError {
    Box::new(error)
}
