//! The use cases of channel type mappings.

use std::sync::Arc;

use flowsdk_core::change::{Author, ChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown, router_gone};
use flowsdk_core::store::{Store, Transaction as _};

use super::{
    ChannelTypeMapping, ChannelTypeMappingChange, ChannelTypeMappingError as Error, ChannelTypeMappingId,
    HasChannelTypeMappings, NewChannelTypeMapping,
};

/// Creates, shows, changes and deletes channel type mappings. A mapping whose router is out of the caller's reach is
/// not found.
#[derive(Debug)]
pub struct ChannelTypeMappings<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> ChannelTypeMappings<S>
where
    S::Tx: HasChannelTypeMappings + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Returns a page of mappings within reach, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        page: &PageRequest,
    ) -> Result<Page<ChannelTypeMapping>, StorageError> {
        let router = router.map(AdmittedRouter::id);
        self.store.read().await?.channel_type_mappings().list(router, reach.routers(), page).await
    }

    /// Returns a mapping.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(
        &self,
        reach: Reach<'_>,
        id: &ChannelTypeMappingId,
    ) -> Result<ChannelTypeMapping, Error> {
        within(self.store.read().await?.channel_type_mappings().find(id).await?, reach)
    }

    /// Creates a mapping, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::Taken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewChannelTypeMapping>,
        once: Option<Once<ChannelTypeMapping>>,
    ) -> Result<Outcome<ChannelTypeMapping>, Error> {
        let NewChannelTypeMapping { router_id, channel_type, label, external_type } = new.into_inner();
        let outcome = perform_once(
            &*self.store,
            once,
            self.cx.now(),
            async |tx| -> Result<ChannelTypeMapping, Error> {
                tx.routers().find(&router_id).await?.ok_or(RouterUnknown)?;
                let (id, now) = (ChannelTypeMappingId::generate(self.cx.ids()), self.cx.now());
                let mapping = ChannelTypeMapping {
                    id,
                    router_id,
                    channel_type,
                    label: label.into(),
                    external_type,
                    created_at: now,
                    updated_at: now,
                };
                let inserted = tx.channel_type_mappings().insert_if_absent(&mapping).await;
                if inserted.map_err(router_gone::<Error>)? { Ok(mapping) } else { Err(Error::Taken) }
            },
        )
        .await?;
        Ok(outcome.inspect(|mapping| self.changes.created(author, mapping)))
    }

    /// Changes the names of a mapping.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelTypeMappingId,
        change: ChannelTypeMappingChange,
    ) -> Result<ChannelTypeMapping, Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.channel_type_mappings().find_for_update(id).await?, reach)?;
        let after = ChannelTypeMapping { updated_at: self.cx.now(), ..change.apply(before.clone()) };
        tx.channel_type_mappings().save(&after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &after);
        Ok(after)
    }

    /// Deletes a mapping.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelTypeMappingId,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.channel_type_mappings().find_for_update(id).await?, reach)?;
        tx.channel_type_mappings().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

fn within(found: Option<ChannelTypeMapping>, reach: Reach<'_>) -> Result<ChannelTypeMapping, Error> {
    found.filter(|mapping| reach.contains(&mapping.router_id)).ok_or(Error::NotFound)
}
