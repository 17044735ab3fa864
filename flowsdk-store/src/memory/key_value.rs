//! The in-process [`KeyValue`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::kv::{Keep, KeyValue, KeyValueError, sum};
use flowsdk_core::time::{Clock, SystemClock, Timestamp};

/// Fewest values at which a write sweeps out the expired ones.
const SWEEP_FROM: usize = 1_024;

/// Strings under strings in this process. Clones share them.
#[derive(Debug, Clone)]
pub struct MemoryKeyValue {
    clock: Arc<dyn Clock>,
    values: Arc<Mutex<Values>>,
}

#[derive(Debug, Default)]
struct Values {
    map: HashMap<String, Value>,
    /// Sweep when the map is larger than this, so that sweeping costs each write little.
    sweep_above: usize,
}

#[derive(Debug, Clone)]
struct Value {
    text: String,
    /// The first moment at which it is gone.
    end: Option<Timestamp>,
}

impl Values {
    fn live(&mut self, key: &str, now: Timestamp) -> Option<&mut Value> {
        if self.map.get(key)?.end.is_some_and(|end| end <= now) {
            self.map.remove(key);
            return None;
        }
        self.map.get_mut(key)
    }

    fn set(&mut self, key: &str, text: &str, ttl: Option<Duration>, now: Timestamp) {
        if self.map.len() > self.sweep_above.max(SWEEP_FROM) {
            self.map.retain(|_, value| value.end.is_none_or(|end| end > now));
            self.sweep_above = self.map.len() * 2;
        }
        let value = Value { text: text.to_owned(), end: ttl.map(|ttl| now + ttl) };
        self.map.insert(key.to_owned(), value);
    }
}

impl MemoryKeyValue {
    /// An empty store whose times to live run by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, values: Arc::default() }
    }

    fn values(&self) -> (MutexGuard<'_, Values>, Timestamp) {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        (values, self.clock.now())
    }
}

impl Default for MemoryKeyValue {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

#[async_trait]
impl KeyValue for MemoryKeyValue {
    async fn get(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        let (mut values, now) = self.values();
        Ok(values.live(key, now).map(|value| value.text.clone()))
    }

    async fn set(&self, key: &str, value: &str, ttl: Option<Duration>) -> Result<(), KeyValueError> {
        let (mut values, now) = self.values();
        values.set(key, value, ttl, now);
        Ok(())
    }

    async fn set_if_absent(
        &self,
        key: &str,
        value: &str,
        ttl: Option<Duration>,
    ) -> Result<Option<String>, KeyValueError> {
        let (mut values, now) = self.values();
        if let Some(present) = values.live(key, now) {
            return Ok(Some(present.text.clone()));
        }
        values.set(key, value, ttl, now);
        Ok(None)
    }

    async fn take(&self, key: &str) -> Result<Option<String>, KeyValueError> {
        let (mut values, now) = self.values();
        values.live(key, now);
        Ok(values.map.remove(key).map(|value| value.text))
    }

    async fn delete(&self, key: &str) -> Result<bool, KeyValueError> {
        self.take(key).await.map(|value| value.is_some())
    }

    async fn keep(&self, keys: &[Keep<'_>], value: &str, ttl: Duration) -> Result<Vec<bool>, KeyValueError> {
        let (mut values, now) = self.values();
        let keep = |&Keep { key, take }: &Keep<'_>| match values.live(key, now) {
            Some(present) if present.text == value => {
                present.end = Some(now + ttl);
                true
            }
            None if take => {
                values.set(key, value, Some(ttl), now);
                true
            }
            _ => false,
        };
        Ok(keys.iter().map(keep).collect())
    }

    async fn add(&self, key: &str, by: i64, ttl: Duration) -> Result<i64, KeyValueError> {
        let (mut values, now) = self.values();
        if let Some(present) = values.live(key, now) {
            let sum = sum(key, &present.text, by)?;
            present.text = sum.to_string();
            return Ok(sum);
        }
        values.set(key, &by.to_string(), Some(ttl), now);
        Ok(by)
    }

    async fn delete_if(&self, key: &str, value: &str) -> Result<bool, KeyValueError> {
        let (mut values, now) = self.values();
        let same = values.live(key, now).is_some_and(|present| present.text == value);
        if same {
            values.map.remove(key);
        }
        Ok(same)
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::time::ManualClock;

    use super::*;

    #[tokio::test]
    async fn what_is_over_and_never_asked_for_again_does_not_pile_up() {
        let clock = ManualClock::at(0);
        let kv = MemoryKeyValue::new(Arc::new(clock.clone()));
        for n in 0..100_000 {
            clock.advance(Duration::from_millis(1));
            kv.set(&n.to_string(), "v", Some(Duration::from_millis(100))).await.expect("set");
        }
        let held = kv.values().0.map.len();
        assert!(held <= SWEEP_FROM + 1, "{held} values are held");
    }
}
