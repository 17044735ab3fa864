//! Tells whether an app has anything left to do.

use std::sync::Arc;

use flowsdk_core::conversation::InputTimers;
use flowsdk_core::fault::BoxError;
use flowsdk_core::stream::broker::Broker as _;
use flowsdk_core::stream::topic::StreamPartition;
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlBroker;

use super::App;
use super::parts::{REGISTRY, outbox_groups};

impl App {
    /// Returns whether no event waits for a part that runs here, no request of a flow is open, and no timer is due at
    /// `now`. It looks at the streams in the database, so it is for one process without Redis.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn is_idle(&self, now: Timestamp) -> Result<bool, BoxError> {
        if self.is_behind().await? {
            return Ok(false);
        }
        let Some(outside) = &self.outside else { return Ok(true) };
        if outside.under_way() > 0 || InputTimers::new(Arc::clone(&self.store)).any(now).await? {
            return Ok(false);
        }
        // The result of a request is a turn, and the turn publishes its events before the request is over.
        Ok(!self.is_behind().await?)
    }

    /// Returns whether a group of this process has entries left.
    async fn is_behind(&self) -> Result<bool, BoxError> {
        let broker = SqlBroker::new((*self.store).clone());
        let parts: Vec<_> =
            REGISTRY.iter().copied().filter(|part| self.config.roles.include(part.role)).collect();
        for (topic, group) in outbox_groups(&parts) {
            if broker.backlog(StreamPartition { topic, index: 0 }, group).await? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
