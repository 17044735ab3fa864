//! Leases: at most one owner of a name at a time, over the [`KeyValue`] port (`SET NX PX`, renewed).
//!
//! A lease protects throughput, not correctness: an owner that was paused past its end may still
//! act. What it writes is fenced by the version of the session row.

use std::sync::Arc;
use std::time::Duration;

use crate::kv::{KeyValue, KeyValueError, keys};

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
        let key = keys::lease(name).as_str().to_owned();
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

    /// Gives it up, so that another need not wait for its end.
    pub async fn release(self) -> Result<(), KeyValueError> {
        self.kv.delete_if(&self.key, &self.owner).await.map(drop)
    }

    /// How often to renew: three times in its time.
    pub fn renew_every(&self) -> Duration {
        self.ttl / 3
    }
}
