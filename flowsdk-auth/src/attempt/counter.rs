//! Counts attempts.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::RateLimit;
use flowsdk_core::kv::{Key, KeyValue, KeyValueError, KeyValueExt as _};
use flowsdk_core::time::Timestamp;

use super::window::Window;
use crate::keys;

/// How often something may be tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Its name in keys.
    pub(crate) name: &'static str,
    /// The number; 0 switches it off.
    pub(crate) most: u32,
    /// The length of the window.
    pub(crate) within: Duration,
}

/// Counts attempts before they are made, so that of those that come at once no more pass than may.
#[derive(Debug, Clone)]
pub(crate) struct Attempts(Arc<dyn KeyValue>);

/// An attempt that was let through. Dropped, it stays counted: who goes away in the middle has tried.
#[derive(Debug)]
#[must_use]
pub(crate) struct Counted(Vec<(Key<i64>, Duration)>);

impl Attempts {
    pub(crate) fn new(kv: Arc<dyn KeyValue>) -> Self {
        Self(kv)
    }

    /// Counts one attempt under each limit, for its subject; nobody in particular (an empty subject) is not
    /// limited.
    ///
    /// While the key-value store is away nothing is limited, and the log says so: being let in matters more
    /// than a limit on guesses, each of which still costs its bcrypt in a bounded pool.
    ///
    /// # Errors
    /// The limit that is reached, and how long to wait; then nothing was counted.
    pub(crate) async fn count(&self, limits: &[(Limit, &str)], now: Timestamp) -> Result<Counted, RateLimit> {
        let mut counted = Counted(Vec::new());
        for (limit, subject) in limits {
            if limit.most == 0 || subject.is_empty() {
                continue;
            }
            match self.count_one(*limit, subject, now, &mut counted).await {
                Ok(None) => {}
                Ok(Some(retry_after)) => {
                    self.give_back(counted).await;
                    return Err(RateLimit { limit: limit.most, retry_after });
                }
                Err(error) => tracing::warn!(%error, limit = limit.name, "attempts are not limited"),
            }
        }
        Ok(counted)
    }

    async fn count_one(
        &self,
        limit: Limit,
        subject: &str,
        now: Timestamp,
        counted: &mut Counted,
    ) -> Result<Option<Duration>, KeyValueError> {
        let window = Window::at(now, limit.within);
        let key = keys::attempts(limit.name, subject, window.number);
        // The window after this one asks for it, too.
        let ttl = limit.within * 2;
        let sum = self.0.add(key.as_str(), 1, ttl).await?;
        counted.0.push((key, ttl));
        let before = self.0.read(&keys::attempts(limit.name, subject, window.number - 1)).await?;
        Ok(window.wait(limit.most, before.unwrap_or(0), sum - 1))
    }

    /// Takes an attempt back that is not to count.
    pub(crate) async fn give_back(&self, counted: Counted) {
        for (key, ttl) in counted.0 {
            if let Err(error) = self.0.add(key.as_str(), -1, ttl).await {
                tracing::warn!(%error, "an attempt that should not count does");
            }
        }
    }
}
