//! Leases: at most one owner of a name at a time, over the [`KeyValue`] port (`SET NX PX`, renewed).
//!
//! A lease protects throughput, not correctness: an owner that was paused past its end may still
//! act. Its writes are fenced by the version of the session row.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::kv::{Key, KeyValue, KeyValueError};

/// How often a lease is renewed in its time.
const RENEWALS: u32 = 3;

/// Returns the key that holds the owner of the lease `name`.
pub fn lease_key(name: &str) -> Key<String> {
    Key::new(format!("lease:{name}"), None)
}

/// A name held by one owner until it is released or its time runs out.
#[derive(Debug)]
pub struct Lease {
    kv: Arc<dyn KeyValue>,
    key: String,
    owner: String,
    ttl: Duration,
}

impl Lease {
    /// Takes `name` for `owner`; `None` while another holds it.
    pub async fn acquire(
        kv: Arc<dyn KeyValue>,
        name: &str,
        owner: &str,
        ttl: Duration,
    ) -> Result<Option<Self>, KeyValueError> {
        let key = lease_key(name).as_str().to_owned();
        match kv.set_if_absent(&key, owner, Some(ttl)).await? {
            Some(holder) if holder != owner => return Ok(None),
            Some(_) if !kv.extend_if(&key, owner, ttl).await? => return Ok(None),
            _ => {}
        }
        Ok(Some(Self { kv, key, owner: owner.to_owned(), ttl }))
    }

    /// Holds it for another full time. `false` means it is lost: stop at once.
    pub async fn renew(&self) -> Result<bool, KeyValueError> {
        self.kv.extend_if(&self.key, &self.owner, self.ttl).await
    }

    /// Releases the lease, so that another owner need not wait for its end.
    pub async fn release(self) -> Result<(), KeyValueError> {
        self.kv.delete_if(&self.key, &self.owner).await.map(drop)
    }

    /// Renews it until `running` is done; whether it was held to the end. When it is lost, cancels `lost` and still
    /// waits. A renewal that cannot be asked for costs a third of its time, so that only the third in a row loses it.
    pub async fn hold_while(&self, lost: &CancellationToken, running: impl Future<Output = ()>) -> bool {
        tokio::pin!(running);
        let mut failures = 0;
        loop {
            tokio::select! {
                () = &mut running => return !lost.is_cancelled(),
                () = tokio::time::sleep(self.ttl / RENEWALS), if !lost.is_cancelled() => {}
            }
            if lost.is_cancelled() {
                continue;
            }
            match self.renew().await {
                Ok(true) => failures = 0,
                Ok(false) => lost.cancel(),
                Err(error) => {
                    failures += 1;
                    tracing::warn!(%error, failures, "a lease could not be renewed");
                    if failures >= RENEWALS {
                        lost.cancel();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use async_trait::async_trait;

    use super::*;

    /// Answers renewals as it was told to, then with success.
    #[derive(Debug, Default)]
    struct Answers(Mutex<VecDeque<Result<bool, KeyValueError>>>);

    #[async_trait]
    impl KeyValue for Answers {
        async fn get(&self, _key: &str) -> Result<Option<String>, KeyValueError> {
            Ok(None)
        }

        async fn set(&self, _key: &str, _value: &str, _ttl: Option<Duration>) -> Result<(), KeyValueError> {
            Ok(())
        }

        async fn set_if_absent(
            &self,
            _key: &str,
            _value: &str,
            _ttl: Option<Duration>,
        ) -> Result<Option<String>, KeyValueError> {
            Ok(None)
        }

        async fn take(&self, _key: &str) -> Result<Option<String>, KeyValueError> {
            Ok(None)
        }

        async fn delete(&self, _key: &str) -> Result<bool, KeyValueError> {
            Ok(true)
        }

        async fn extend_if(&self, _key: &str, _value: &str, _ttl: Duration) -> Result<bool, KeyValueError> {
            self.0.lock().expect("a lock").pop_front().unwrap_or(Ok(true))
        }

        async fn add(&self, _key: &str, by: i64, _ttl: Duration) -> Result<i64, KeyValueError> {
            Ok(by)
        }

        async fn delete_if(&self, _key: &str, _value: &str) -> Result<bool, KeyValueError> {
            Ok(true)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_third_renewal_in_a_row_that_fails_loses_it() {
        let away = || Err(KeyValueError::Unavailable("away".into()));
        for (answers, held) in [
            (vec![], true),
            (vec![away(), away(), Ok(true), away(), away()], true),
            (vec![away(), away(), away()], false),
            (vec![Ok(true), Ok(false)], false),
        ] {
            let kv = Arc::new(Answers(Mutex::new(answers.into())));
            let ttl = Duration::from_secs(6);
            let lease = Lease::acquire(kv, "one", "me", ttl).await.expect("asked").expect("free");
            let lost = CancellationToken::new();
            let running = tokio::time::sleep(Duration::from_secs(60));
            assert_eq!(lease.hold_while(&lost, running).await, held);
            assert_eq!(lost.is_cancelled(), !held);
        }
    }
}
