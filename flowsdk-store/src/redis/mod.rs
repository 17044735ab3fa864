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
/// the need of a healthy server.
const ANSWER: Duration = Duration::from_secs(10);
/// How long a connection attempt may take.
const DIAL: Duration = Duration::from_secs(5);

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

/// Connects to the server at `url` (`redis://` or `rediss://`).
///
/// # Errors
/// When the address is none, the server does not answer, or it is older than Redis 7.
pub async fn connect(url: &str) -> Result<Redis, BoxError> {
    let client = Client::open(url)?;
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(ANSWER))
        .set_connection_timeout(Some(DIAL))
        // About a second in all: callers have a backoff of their own.
        .set_number_of_retries(4)
        .set_max_delay(Duration::from_millis(500))
        .set_pipeline_buffer_size(1_024);
    let mut shared = client.get_connection_manager_with_config(config).await?;
    let info: String = ::redis::cmd("INFO").arg("server").query_async(&mut shared).await?;
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 7) {
        return Err(format!("Redis 7 or later is needed, this is {version:?}").into());
    }
    Ok(Redis { client, shared, prefix: String::new() })
}

impl Redis {
    /// The same server with `prefix` before every key, so that several can use it side by side.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Returns whether the server answers now.
    ///
    /// # Errors
    /// When it does not.
    pub async fn ping(&self) -> Result<(), BoxError> {
        Ok(::redis::cmd("PING").exec_async(&mut self.shared.clone()).await?)
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
