//! The [`KeyValue`] over Redis.

use std::sync::LazyLock;
use std::time::Duration;

use ::redis::{Cmd, FromRedisValue, Script, cmd};
use async_trait::async_trait;
use flowsdk_core::kv::{Keep, KeyValue, KeyValueError, not_a_number};

use super::{Redis, boxed};

static KEEP: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/keep.lua")));
static DELETE_IF: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/delete_if.lua")));
static ADD: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/add.lua")));

/// Keys and values in Redis; times to live run by the server's clock.
#[derive(Debug, Clone)]
pub struct RedisKeyValue {
    redis: Redis,
}

/// A time to live as Redis takes it: whole milliseconds, at least 1 and at most a thousand years.
fn millis(ttl: Duration) -> u64 {
    const LONGEST: u64 = 1_000 * 365 * 24 * 60 * 60 * 1_000;
    u64::try_from(ttl.as_millis()).unwrap_or(LONGEST).clamp(1, LONGEST)
}

impl RedisKeyValue {
    pub(super) fn new(redis: Redis) -> Self {
        Self { redis }
    }

    async fn run<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, KeyValueError> {
        let answer = command.query_async(&mut self.redis.shared.clone()).await;
        answer.map_err(|error| KeyValueError::Unavailable(boxed(error)))
    }

    async fn run_script(&self, script: &::redis::ScriptInvocation<'_>) -> Result<bool, KeyValueError> {
        let answer = script.invoke_async(&mut self.redis.shared.clone()).await;
        answer.map_err(|error| KeyValueError::Unavailable(boxed(error)))
    }
}

#[async_trait]
impl KeyValue for RedisKeyValue {
    async fn get(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        self.run(cmd("GET").arg(self.redis.key(key))).await
    }

    async fn set(&self, key: &str, value: &str, ttl: Option<Duration>) -> Result<(), KeyValueError> {
        let mut set = cmd("SET");
        set.arg(self.redis.key(key)).arg(value);
        if let Some(ttl) = ttl {
            set.arg("PX").arg(millis(ttl));
        }
        self.run(&set).await
    }

    async fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Option<Duration>,
    ) -> Result<Option<String>, KeyValueError> {
        let mut set = cmd("SET");
        set.arg(self.redis.key(key)).arg(value).arg("NX").arg("GET");
        if let Some(ttl) = ttl {
            set.arg("PX").arg(millis(ttl));
        }
        self.run(&set).await
    }

    async fn take(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        self.run(cmd("GETDEL").arg(self.redis.key(key))).await
    }

    async fn delete(&self, key: &str) -> Result<bool, KeyValueError> {
        self.run(cmd("DEL").arg(self.redis.key(key))).await
    }

    async fn keep(&self, keys: &[Keep<'_>], value: &str, ttl: Duration) -> Result<Vec<bool>, KeyValueError> {
        let mut script = KEEP.prepare_invoke();
        script.arg(value).arg(millis(ttl));
        for keep in keys {
            script.key(self.redis.key(keep.key)).arg(u8::from(keep.take));
        }
        let answer = script.invoke_async(&mut self.redis.shared.clone()).await;
        answer.map_err(|error| KeyValueError::Unavailable(boxed(error)))
    }

    async fn add(&self, key: &str, by: i64, ttl: Duration) -> Result<i64, KeyValueError> {
        let mut script = ADD.key(self.redis.key(key));
        let answer = script.arg(by).arg(millis(ttl)).invoke_async(&mut self.redis.shared.clone()).await;
        let sum: Option<i64> = answer.map_err(|error| KeyValueError::Unavailable(boxed(error)))?;
        sum.ok_or_else(|| not_a_number(key))
    }

    async fn delete_if(&self, key: &str, value: &str) -> Result<bool, KeyValueError> {
        self.run_script(DELETE_IF.key(self.redis.key(key)).arg(value)).await
    }
}
