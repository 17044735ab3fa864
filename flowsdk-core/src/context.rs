//! The context of every use case: the time and a source of ids.

use std::sync::Arc;

use crate::id::IdSource;
use crate::time::{Clock, Timestamp};

/// Time and ids for one use case.
#[derive(Debug, Clone)]
pub struct OpContext {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl OpContext {
    /// Creates a context over `clock` and `ids`.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn IdSource>) -> Self {
        Self { clock, ids }
    }

    /// Returns the system's clock and secure ids.
    pub fn system() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(crate::time::SystemClock);
        let ids = Arc::new(crate::id::Cuids::new(Arc::clone(&clock)));
        Self { clock, ids }
    }

    /// Returns the present moment.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the source of ids.
    pub fn ids(&self) -> &dyn IdSource {
        &*self.ids
    }

    /// Returns the clock, for parts that outlive one use case.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }
}
