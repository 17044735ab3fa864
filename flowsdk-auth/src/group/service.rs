//! The use cases of groups (rulings H8).

use flowsdk_core::words::NameQuery;
use std::sync::Arc;

use flowsdk_core::change::{Change, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::GroupId;
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{NameSearch, Page, PageRequest};
use flowsdk_core::store::{Store, Transaction as _};

use super::{Group, GroupChange, GroupError, HasGroups, NewGroup};
use crate::audit::AuditRecorder;
use crate::principal::Actor;

/// Creates, shows, changes and deletes groups.
#[derive(Debug)]
pub struct Groups<S> {
    store: Arc<S>,
    cx: OpContext,
    audit: AuditRecorder,
}

impl<S: Store> Groups<S>
where
    S::Tx: HasGroups + HasIdempotency,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, audit: AuditRecorder) -> Self {
        Self { store, cx, audit }
    }

    /// Creates a group, once for each idempotency key.
    ///
    /// # Errors
    /// [`GroupError::Idempotency`], [`GroupError::Storage`].
    pub async fn create(
        &self,
        actor: &Actor,
        new: NewGroup,
        once: Option<Once<Group>>,
    ) -> Result<Outcome<Group>, GroupError> {
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let now = self.cx.now();
            let group = Group {
                id: GroupId::generate(self.cx.ids()),
                name: new.name,
                permissions: new.permissions,
                router_ids: new.router_ids,
                created_at: now,
                updated_at: now,
            };
            tx.groups().insert(&group).await?;
            Ok::<_, GroupError>(group)
        })
        .await?;
        Ok(outcome.inspect(|group| {
            self.audit.note(&self.cx, actor, group, &Change::Created(group.to_json()));
        }))
    }

    /// Returns a group.
    ///
    /// # Errors
    /// [`GroupError::NotFound`], [`GroupError::Storage`].
    pub async fn get(&self, id: &GroupId) -> Result<Group, GroupError> {
        let found = self.store.read().await?.groups().find_many(std::slice::from_ref(id)).await?.pop();
        found.ok_or(GroupError::NotFound)
    }

    /// Returns a page of the groups whose names fit `query`, newest first.
    ///
    /// # Errors
    /// [`GroupError::Storage`].
    pub async fn list(
        &self,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Group>, GroupError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.groups().list(&request).await?);
        }
        Ok(search.into_page())
    }

    /// Changes a group; its users have the new rights from their next request on.
    ///
    /// # Errors
    /// [`GroupError::NotFound`], [`GroupError::Storage`].
    pub async fn change(
        &self,
        actor: &Actor,
        id: &GroupId,
        change: GroupChange,
    ) -> Result<Group, GroupError> {
        let mut tx = self.store.begin().await?;
        let before = tx.groups().find_for_update(id).await?.ok_or(GroupError::NotFound)?;
        let after = change.apply(before.clone(), self.cx.now());
        tx.groups().save(&after).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &after, &Change::updated(&before, &after));
        Ok(after)
    }

    /// Deletes a group; its users have none afterwards.
    ///
    /// # Errors
    /// [`GroupError::NotFound`], [`GroupError::Storage`].
    pub async fn delete(&self, actor: &Actor, id: &GroupId) -> Result<(), GroupError> {
        let mut tx = self.store.begin().await?;
        let before = tx.groups().find_for_update(id).await?.ok_or(GroupError::NotFound)?;
        tx.groups().delete(id).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &before, &Change::Deleted(before.to_json()));
        Ok(())
    }
}
