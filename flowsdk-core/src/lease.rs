//! Leases: at most one owner of a name at a time, over the [`KeyValue`] port.
//!
//! A process takes and renews all its leases with one call ([`KeyValue::keep`]), so that they can be short: a name whose
//! owner died is taken over after at most its time and a fifth of it.
//!
//! A lease protects throughput, not correctness: an owner that was paused past its end may still
//! act. Its writes are fenced by the version of the session row.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::fault::Chain;
use crate::kv::{Keep, Key, KeyValue, KeyValueError};

/// How often a lease is renewed in its time, and a name that another has is asked for.
const RENEWALS: u32 = 5;

/// Returns the key that holds the owner of the lease `name`.
pub fn lease_key(name: &str) -> Key<String> {
    Key::new(format!("lease:{name}"), None)
}

/// The leases of one process. Clones share them.
///
/// They have no task of their own: whoever holds or awaits one asks for all, when nobody has asked a moment ago.
#[derive(Debug, Clone)]
pub struct Leases {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    kv: Arc<dyn KeyValue>,
    owner: String,
    ttl: Duration,
    /// Held while somebody asks: when the last call began, and whether it failed.
    calls: tokio::sync::Mutex<Calls>,
    tickets: Mutex<Tickets>,
}

#[derive(Debug, Default)]
struct Calls {
    last: Option<Instant>,
    failed: bool,
}

#[derive(Debug, Default)]
struct Tickets {
    next: u64,
    all: BTreeMap<u64, Ticket>,
}

/// A name that somebody of this process holds or awaits.
#[derive(Debug)]
struct Ticket {
    key: String,
    standing: Standing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nobody has asked for it yet.
    New,
    /// Another owner has it.
    Awaited,
    /// The last call had no answer: it may be held, or another owner may have it.
    Unknown,
    /// Held; `since` is when the last call that renewed it began.
    Held {
        since: Instant,
    },
    Lost,
}

impl Leases {
    /// The leases of `owner`, each of which ends `ttl` after its last renewal.
    pub fn new(kv: Arc<dyn KeyValue>, owner: impl Into<String>, ttl: Duration) -> Self {
        let (calls, tickets) = (tokio::sync::Mutex::default(), Mutex::default());
        Self { shared: Arc::new(Shared { kv, owner: owner.into(), ttl, calls, tickets }) }
    }

    /// The name of this process among the owners.
    pub fn owner(&self) -> &str {
        &self.shared.owner
    }

    /// The store that knows who holds each name.
    pub fn store(&self) -> &Arc<dyn KeyValue> {
        &self.shared.kv
    }

    /// Returns how long to wait between two calls.
    pub fn period(&self) -> Duration {
        self.shared.ttl / RENEWALS
    }

    /// Waits until `name` is this process's; gives up when `stop` is cancelled. To drop the future is to die: a call
    /// that it made may still take the name, which is then free only after the time of the lease.
    pub async fn take(&self, name: &str, stop: &CancellationToken) -> Option<Lease> {
        let lease = Lease { ticket: self.add(name), leases: self.clone() };
        while !stop.is_cancelled() {
            self.ask(lease.ticket).await;
            if matches!(self.standing(lease.ticket), Standing::Held { .. }) && !stop.is_cancelled() {
                return Some(lease);
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(self.period()) => {}
            }
        }
        if let Err(error) = lease.release().await {
            tracing::warn!(error = %Chain(&error), name, "a lease may be held until its time is over");
        }
        None
    }

    /// Returns the tenure of `name`, whoever of this process holds it, and whenever.
    pub fn tenure(&self, name: &str) -> Tenure {
        Tenure { of: Some((self.clone(), lease_key(name).as_str().to_owned())) }
    }

    fn holds(&self, key: &str) -> bool {
        let is_held = |ticket: &Ticket| {
            ticket.key == key
                && matches!(ticket.standing, Standing::Held { since } if since.elapsed() < self.shared.ttl)
        };
        self.tickets().all.values().any(is_held)
    }

    fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.shared.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: &str) -> u64 {
        let mut tickets = self.tickets();
        let id = tickets.next;
        tickets.next += 1;
        let key = lease_key(name).as_str().to_owned();
        tickets.all.insert(id, Ticket { key, standing: Standing::New });
        id
    }

    fn standing(&self, ticket: u64) -> Standing {
        self.tickets().all.get(&ticket).map_or(Standing::Lost, |ticket| ticket.standing)
    }

    /// Renews every lease and asks for every awaited name, unless that was done a moment ago and for `ticket` too.
    async fn ask(&self, ticket: u64) {
        let mut calls = self.shared.calls.lock().await;
        let recent = calls.last.is_some_and(|last| last.elapsed() < self.period());
        if recent && self.standing(ticket) != Standing::New {
            return;
        }
        let began = Instant::now();
        calls.last = Some(began);
        let asked: Vec<(u64, String, bool)> = {
            let tickets = self.tickets();
            let open = tickets.all.iter().filter(|(_, ticket)| ticket.standing != Standing::Lost);
            open.map(|(id, ticket)| {
                (*id, ticket.key.clone(), !matches!(ticket.standing, Standing::Held { .. }))
            })
            .collect()
        };
        let keys: Vec<_> = asked.iter().map(|(_, key, take)| Keep { key, take: *take }).collect();
        let Shared { kv, owner, ttl, .. } = &*self.shared;
        let answer = tokio::time::timeout(*ttl / 2, kv.keep(&keys, owner, *ttl)).await;
        let answer = answer.unwrap_or_else(|slow| Err(KeyValueError::Unavailable(slow.into())));
        match &answer {
            Ok(_) if calls.failed => tracing::info!("leases are renewed again"),
            Err(error) if !calls.failed => {
                tracing::warn!(error = %Chain(error), "leases cannot be renewed: the key-value store is away");
            }
            _ => {}
        }
        calls.failed = answer.is_err();
        self.note(&asked, answer.ok(), began);
    }

    /// Notes for each ticket that was asked for whether it is held now. Without an answer nobody knows: a lease is
    /// lost when its time is over.
    fn note(&self, asked: &[(u64, String, bool)], answer: Option<Vec<bool>>, began: Instant) {
        let mut tickets = self.tickets();
        for (index, (id, _, take)) in asked.iter().enumerate() {
            let Some(ticket) = tickets.all.get_mut(id) else {
                continue;
            };
            let held = answer.as_ref().map(|held| held.get(index).copied().unwrap_or(false));
            ticket.standing = match (ticket.standing, held) {
                (_, Some(true)) => Standing::Held { since: began },
                (_, Some(false)) if *take => Standing::Awaited,
                (_, Some(false)) => Standing::Lost,
                (Standing::Held { since }, None) if since.elapsed() < self.shared.ttl => {
                    Standing::Held { since }
                }
                (Standing::Held { .. }, None) => Standing::Lost,
                (_, None) => Standing::Unknown,
            };
        }
    }
}

/// Tells whether a name is this process's at this moment. A process that was paused knows it at once, before it renews
/// anything: what must not happen beside another owner asks here first.
#[derive(Debug, Clone, Default)]
pub struct Tenure {
    of: Option<(Leases, String)>,
}

impl Tenure {
    /// The tenure of an owner beside whom there is nobody.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Returns whether the time of the last renewal is not over.
    pub fn is_held(&self) -> bool {
        self.of.as_ref().is_none_or(|(leases, key)| leases.holds(key))
    }
}

/// A name held by this process until it is released, or dropped and not renewed any more.
#[derive(Debug)]
pub struct Lease {
    ticket: u64,
    leases: Leases,
}

impl Lease {
    /// Renews it until `running` is done; returns whether it was held to the end. When it is lost, cancels `lost` and
    /// still waits. A renewal that cannot be asked for does not lose it before its time is over.
    pub async fn hold_while(&self, lost: &CancellationToken, running: impl Future<Output = ()>) -> bool {
        tokio::pin!(running);
        let renewed = async {
            loop {
                tokio::time::sleep(self.leases.period()).await;
                self.leases.ask(self.ticket).await;
                if self.leases.standing(self.ticket) == Standing::Lost {
                    return;
                }
            }
        };
        tokio::select! {
            biased;
            () = &mut running => return !lost.is_cancelled(),
            () = renewed => lost.cancel(),
        }
        running.await;
        false
    }

    /// Releases the lease, so that another owner need not wait for its end.
    ///
    /// # Errors
    /// The store is away: the lease runs out by itself.
    pub async fn release(self) -> Result<(), KeyValueError> {
        let Shared { kv, owner, calls, .. } = &*self.leases.shared;
        let ticket = {
            // A call that is under way for all leases may be taking or renewing this one.
            let _none_under_way = calls.lock().await;
            self.leases.tickets().all.remove(&self.ticket)
        };
        match ticket {
            Some(Ticket { key, standing: Standing::Held { .. } | Standing::Unknown }) => {
                kv.delete_if(&key, owner).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.tickets().all.remove(&self.ticket);
    }
}

#[cfg(test)]
mod tests;
