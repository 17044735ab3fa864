//! Which tenants' people write faster than their turns can be taken, told from process to process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::id::RouterId;
use crate::kv::{KeyValue, KeyValueError};
use crate::session::SessionId;
use crate::stream::consumer::Backpressure;
use crate::stream::lanes::Party;

/// How often a consumer tells and a gateway asks.
pub const BACKPRESSURE_PERIOD: Duration = Duration::from_millis(250);
/// How long the word of a consumer holds, which may be gone.
const HOLDS: Duration = Duration::from_secs(1);
/// Has a value while any tenant is refused, so that gateways ask for one key as long as all is well.
const ANY: &str = "conversation:backpressure";
const VALUE: &str = "1";

fn key(party: Party) -> String {
    format!("{ANY}:{party}")
}

/// Returns the parties that the events of a session may count for: turns are shared by router, and by channel while the
/// consumer has not learned its router.
pub fn parties_of(session: &SessionId, router: &RouterId) -> [Party; 2] {
    [Party::of(router), Party::of(session.phone_number_id())]
}

/// The [`Backpressure`] of the conversation consumers of all processes.
#[derive(Debug)]
pub struct SharedBackpressure {
    kv: Arc<dyn KeyValue>,
    any: AtomicBool,
}

impl SharedBackpressure {
    /// The one that is told through `kv`.
    pub fn new(kv: Arc<dyn KeyValue>) -> Self {
        Self { kv, any: AtomicBool::new(false) }
    }

    /// Tells the gateways of `here`. To be called every [`BACKPRESSURE_PERIOD`] where turns are taken.
    ///
    /// # Errors
    /// The gateways were not told.
    pub async fn tell(&self, here: &Backpressure) -> Result<(), KeyValueError> {
        let parties = here.parties();
        for party in &parties {
            self.kv.set(&key(*party), VALUE, Some(HOLDS)).await?;
        }
        if !parties.is_empty() {
            self.kv.set(ANY, VALUE, Some(HOLDS)).await?;
        }
        Ok(())
    }

    /// Learns whether any tenant's events are to be refused. To be called every [`BACKPRESSURE_PERIOD`] by gateways.
    ///
    /// # Errors
    /// The store cannot be asked; until it can, none are.
    pub async fn ask(&self) -> Result<(), KeyValueError> {
        let any = self.kv.get(ANY).await;
        self.any.store(matches!(any, Ok(Some(_))), Ordering::Relaxed);
        any.map(drop)
    }

    /// Returns whether the events of one of these parties are to be refused.
    ///
    /// # Errors
    /// The store cannot be asked.
    pub async fn is_on(&self, parties: &[Party]) -> Result<bool, KeyValueError> {
        if !self.any.load(Ordering::Relaxed) {
            return Ok(false);
        }
        for party in parties {
            if self.kv.get(&key(*party)).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
