//! The cases of [`lease_conformance!`](crate::lease_conformance).
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::KeyValueUnderTest;
use crate::kv::{Keep, KeyValue, KeyValueError};
use crate::lease::lease_key;

/// The names of the cases.
pub const CASES: &[&str] = crate::__lease_cases! { (crate::__conformance_names) };

const TTL: Duration = Duration::from_secs(1);
/// Longer than [`TTL`].
const OVER: Duration = Duration::from_millis(1_100);
const LONG: Duration = Duration::from_secs(3600);

/// A name as its holder sees it.
struct Held {
    kv: Arc<dyn KeyValue>,
    key: String,
    owner: String,
    ttl: Duration,
}

impl Held {
    async fn acquire(
        kv: Arc<dyn KeyValue>,
        name: &str,
        owner: &str,
        ttl: Duration,
    ) -> Result<Option<Self>, KeyValueError> {
        let held = Self { kv, key: lease_key(name).as_str().to_owned(), owner: owner.to_owned(), ttl };
        Ok(held.keep(true).await?.then_some(held))
    }

    async fn keep(&self, take: bool) -> Result<bool, KeyValueError> {
        let kept = self.kv.keep(&[Keep { key: &self.key, take }], &self.owner, self.ttl).await?;
        Ok(kept == [true])
    }

    async fn renew(&self) -> Result<bool, KeyValueError> {
        self.keep(false).await
    }

    async fn release(self) -> Result<(), KeyValueError> {
        self.kv.delete_if(&self.key, &self.owner).await.map(drop)
    }
}

async fn acquire(subject: &KeyValueUnderTest, name: &str, owner: &str, ttl: Duration) -> Option<Held> {
    Held::acquire(Arc::clone(&subject.kv), name, owner, ttl).await.expect("acquire")
}

/// While one holds a name, another does not get it.
pub async fn a_held_name_is_refused(subject: KeyValueUnderTest) {
    let held = acquire(&subject, "p", "one", LONG).await;
    assert!(held.is_some());
    assert!(acquire(&subject, "p", "two", LONG).await.is_none());
    assert!(held.expect("held").renew().await.expect("renew"));
}

/// Names have nothing to do with each other.
pub async fn names_are_apart(subject: KeyValueUnderTest) {
    assert!(acquire(&subject, "p:0", "one", LONG).await.is_some());
    assert!(acquire(&subject, "p:1", "two", LONG).await.is_some());
}

/// An owner that holds a name gets it again (after a restart under the same name).
pub async fn the_holder_may_take_it_again(subject: KeyValueUnderTest) {
    let first = acquire(&subject, "p", "one", LONG).await;
    let again = acquire(&subject, "p", "one", LONG).await;
    assert!(first.is_some() && again.is_some());
}

/// A renewal gives a full time from now on.
pub async fn a_renewed_lease_holds(subject: KeyValueUnderTest) {
    let long = acquire(&subject, "p", "one", LONG).await.expect("free");
    let short = acquire(&subject, "p", "one", TTL).await.expect("its own");
    assert!(long.renew().await.expect("renew"));
    subject.advance(OVER).await;
    assert!(short.renew().await.expect("renew"), "it ended in spite of the renewal");
    assert!(acquire(&subject, "p", "two", LONG).await.is_none());
}

/// A released name is free at once.
pub async fn a_released_lease_is_free(subject: KeyValueUnderTest) {
    let lease = acquire(&subject, "p", "one", LONG).await.expect("free");
    lease.release().await.expect("release");
    assert!(acquire(&subject, "p", "two", LONG).await.is_some());
}

/// A name is free when its time is over, and its former holder is told.
pub async fn an_expired_lease_is_free_and_lost(subject: KeyValueUnderTest) {
    let first = acquire(&subject, "p", "one", TTL).await.expect("free");
    subject.advance(OVER).await;
    assert!(!first.renew().await.expect("renew"));
    let second = acquire(&subject, "p", "two", LONG).await.expect("free");
    assert!(!first.renew().await.expect("renew"));
    assert!(second.renew().await.expect("renew"));
}

/// A holder who releases a lost lease takes nothing from the next holder.
pub async fn a_late_release_leaves_the_next_holder_alone(subject: KeyValueUnderTest) {
    let first = acquire(&subject, "p", "one", TTL).await.expect("free");
    subject.advance(OVER).await;
    let second = acquire(&subject, "p", "two", LONG).await.expect("free");
    first.release().await.expect("release");
    assert!(second.renew().await.expect("renew"));
    assert!(acquire(&subject, "p", "three", LONG).await.is_none());
}

/// Of 32 that ask at once exactly one gets the name.
pub async fn one_of_many_holds(subject: KeyValueUnderTest) {
    let mut tasks = JoinSet::new();
    for n in 0..32 {
        let kv = Arc::clone(&subject.kv);
        tasks.spawn(async move { Held::acquire(kv, "p", &format!("owner-{n}"), LONG).await });
    }
    let got = tasks.join_all().await;
    let holders = got.into_iter().filter_map(|lease| lease.expect("acquire")).count();
    assert_eq!(holders, 1);
}
