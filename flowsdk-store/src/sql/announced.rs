//! Which events of which routers webhooks take, as this process knows.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use flowsdk_core::event::WebhookEventType;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::store::Store as _;

use super::SqlStore;
use super::row::{Cells, Row};
use super::statement::{Sql, sql};

/// The events that webhooks take, by their router.
#[derive(Debug, Default)]
pub(super) struct Announced(RwLock<HashMap<RouterId, Vec<WebhookEventType>>>);

impl Announced {
    /// Returns whether a webhook of a router takes an event.
    pub(super) fn contains(&self, router: &RouterId, event: WebhookEventType) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(router).is_some_and(|events| events.contains(&event))
    }

    /// Returns whether a webhook of any router takes an event.
    pub(super) fn contains_anywhere(&self, event: WebhookEventType) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|events| events.contains(&event))
    }

    fn set(&self, webhooks: Vec<Taken>) {
        let mut known: HashMap<RouterId, Vec<WebhookEventType>> = HashMap::new();
        for Taken { router_id, event_types } in webhooks {
            known.entry(router_id).or_default().extend(event_types);
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
    }
}

/// The events that a webhook takes.
struct Taken {
    router_id: RouterId,
    event_types: Vec<WebhookEventType>,
}

impl Row for Taken {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        let (router_id, event_types) = (cells.next()?, cells.json("webhook", "event_types")?);
        Ok(Self { router_id, event_types })
    }
}

const ACTIVE: Sql = sql("SELECT router_id, event_types FROM webhook WHERE is_active = 1");

super::statement::statements! { ACTIVE }

impl SqlStore {
    /// Learns which events webhooks take from now on: a tick. Events that only a newer webhook takes are not stored before.
    ///
    /// # Errors
    /// [`StorageError`]; what was known stays.
    pub async fn learn_webhooks(&self) -> Result<(), StorageError> {
        let webhooks = self.read().await?.conn.fetch_all(ACTIVE, ()).await?;
        self.announced().set(webhooks);
        Ok(())
    }
}
