//! The use cases of webhooks.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::{WebhookEvent, WebhookEventType};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::HasIdempotency;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::record::{HasRecords, RouterRecords, steps};
use flowsdk_core::router::{Admitted, HasRouters, Reach, RouterUnknown};
use flowsdk_core::store::{Store, transact};
use flowsdk_core::words::NameQuery;
use serde_json::json;

use super::model::distinct;
use super::{NewWebhook, SecretOverlap, Webhook, WebhookChange, WebhookError as Error, WebhookId};
use crate::delivery::{
    Attempt, Delivery, DeliveryFilter, DeliveryId, HasDeliveries, ReplayRange, Secret, of_event,
};

/// Creates, shows, changes and deletes webhooks, and shows and replays what they were sent. A webhook whose router is out
/// of the caller's reach is not found.
#[derive(Debug)]
pub struct Webhooks<S> {
    records: RouterRecords<S, Webhook>,
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Webhooks<S>
where
    S::Tx: HasRecords<Webhook> + HasRouters + HasIdempotency + HasDeliveries,
{
    /// Creates a service over `store` that seals secrets by `master_key` and notes its changes in `changes`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, master_key, changes }
    }

    /// Returns a page of the webhooks within reach, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Webhook>, StorageError> {
        self.records.list(reach, router, query, page).await
    }

    /// Returns a webhook.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &WebhookId) -> Result<Webhook, Error> {
        self.records.get(reach, id).await
    }

    /// Creates a webhook. Returns it with its secret, which is shown now and never again.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewWebhook>,
    ) -> Result<(Webhook, Secret), Error> {
        let (new, now, secret) = (new.into_inner(), self.cx.now(), Secret::generate(self.cx.ids()));
        let webhook = Webhook {
            id: WebhookId::generate(self.cx.ids()),
            router_id: new.router_id,
            name: new.name.into(),
            url: new.url,
            event_types: distinct(new.event_types),
            secret: secret.seal(&self.master_key),
            previous_secret: None,
            previous_secret_ends_at: None,
            is_active: new.is_active,
            paused_at: None,
            failing_since: None,
            created_at: now,
            updated_at: now,
        };
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<(), Error> {
            tx.routers().find(&webhook.router_id).await?.ok_or(RouterUnknown)?;
            steps::insert(tx, &webhook).await
        })
        .await?;
        self.changes.created(author, &webhook);
        Ok((webhook, secret))
    }

    /// Changes a webhook.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook, Error> {
        let now = self.cx.now();
        self.save(author, reach, id, |webhook| change.apply(webhook, now)).await
    }

    /// Gives a webhook another secret, which is shown now and never again. The old one signs beside it for `overlap`.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn rotate_secret(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &WebhookId,
        overlap: SecretOverlap,
    ) -> Result<(Webhook, Secret), Error> {
        let (secret, now) = (Secret::generate(self.cx.ids()), self.cx.now());
        let sealed = secret.seal(&self.master_key);
        let rotate = |webhook: Webhook| webhook.with_secret(sealed, overlap, now);
        let webhook = self.save(author, reach, id, rotate).await?;
        Ok((webhook, secret))
    }

    async fn save(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &WebhookId,
        change: impl FnOnce(Webhook) -> Webhook,
    ) -> Result<Webhook, Error> {
        let (before, after) = transact(&*self.store, async |tx: &mut S::Tx| -> Result<_, Error> {
            let before: Webhook = steps::find_for_update(tx, reach, id).await?;
            let after = steps::save(tx, change(before.clone()), self.cx.now()).await?;
            if after.is_sent_to() {
                tx.deliveries().wake_all_of(id, self.cx.now()).await?;
            } else {
                tx.deliveries().rest(id).await?;
            }
            Ok((before, after))
        })
        .await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a webhook with its deliveries. What waits is not sent.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &WebhookId) -> Result<(), Error> {
        self.records.delete(author, reach, id).await
    }

    /// Sends a webhook an event by which it can be tried. Returns its delivery.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn test(&self, reach: Reach<'_>, id: &WebhookId) -> Result<Delivery, Error> {
        let now = self.cx.now();
        let delivery = transact(&*self.store, async |tx: &mut S::Tx| -> Result<Delivery, Error> {
            let webhook: Webhook = steps::find(tx, reach, id).await?;
            let event_id = self.cx.ids().next_id();
            let event = WebhookEvent {
                id: event_id.clone(),
                r#type: WebhookEventType::WebhookTest,
                router_id: webhook.router_id.clone(),
                key: event_id,
                timestamp: now,
                data: json!({ "webhook": { "id": webhook.id, "name": webhook.name } }),
            };
            let delivery = of_event(&event, &webhook.id, self.cx.ids());
            tx.deliveries().append(std::slice::from_ref(&delivery), now).await?;
            let stored = tx.deliveries().find(&webhook.id, &delivery.id).await?;
            stored.ok_or(Error::DeliveryNotFound)
        })
        .await?;
        Ok(delivery)
    }

    /// Returns a page of the deliveries of a webhook that pass the filter, newest first.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn deliveries(
        &self,
        reach: Reach<'_>,
        id: &WebhookId,
        filter: DeliveryFilter,
        page: &PageRequest,
    ) -> Result<Page<Delivery>, Error> {
        let mut tx = self.store.read().await?;
        let _webhook: Webhook = steps::find(&mut tx, reach, id).await?;
        Ok(tx.deliveries().list(id, &filter, page).await?)
    }

    /// Returns a delivery with its attempts, the oldest first.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::DeliveryNotFound`], [`Error::Storage`].
    pub async fn delivery(
        &self,
        reach: Reach<'_>,
        id: &WebhookId,
        delivery: &DeliveryId,
    ) -> Result<(Delivery, Vec<Attempt>), Error> {
        let mut tx = self.store.read().await?;
        let _webhook: Webhook = steps::find(&mut tx, reach, id).await?;
        // In this order: an attempt that ends meanwhile is shown by the next question, never beside the state before it.
        let attempts = tx.deliveries().attempts(delivery).await?;
        let found = tx.deliveries().find(id, delivery).await?.ok_or(Error::DeliveryNotFound)?;
        Ok((found, attempts))
    }

    /// Sends a delivery again, whatever became of it, in its place among those of its conversation.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::DeliveryNotFound`], [`Error::Storage`].
    pub async fn replay(
        &self,
        reach: Reach<'_>,
        id: &WebhookId,
        delivery: &DeliveryId,
    ) -> Result<Delivery, Error> {
        let now = self.cx.now();
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<Delivery, Error> {
            let _webhook: Webhook = steps::find(tx, reach, id).await?;
            if !tx.deliveries().replay_one(id, delivery).await? {
                return Err(Error::DeliveryNotFound);
            }
            tx.deliveries().wake_all_of(id, now).await?;
            tx.deliveries().find(id, delivery).await?.ok_or(Error::DeliveryNotFound)
        })
        .await
    }

    /// Sends the deliveries of events in a time again, in their order. Returns how many.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::RangeEmpty`], [`Error::Storage`].
    pub async fn replay_range(
        &self,
        reach: Reach<'_>,
        id: &WebhookId,
        range: &ReplayRange,
    ) -> Result<u64, Error> {
        let now = self.cx.now();
        transact(&*self.store, async |tx: &mut S::Tx| -> Result<u64, Error> {
            let _webhook: Webhook = steps::find(tx, reach, id).await?;
            if range.from.0 >= range.to.0 {
                return Err(Error::RangeEmpty);
            }
            let replayed = tx.deliveries().replay_range(id, range).await?;
            tx.deliveries().wake_all_of(id, now).await?;
            Ok(replayed)
        })
        .await
    }
}
