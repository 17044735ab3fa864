//! The use cases of event definitions.

use std::sync::Arc;

use super::model::repeated;
use super::{
    CountedDefinition, EventDefinition, EventDefinitionChange, EventDefinitionError as Error,
    EventDefinitionId, HasEventDefinitions, NewEventDefinition, UndefinedEvent,
};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::flow::EventName;
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::page::{MOST_LOOKED_AT, Page, PageRequest};
use crate::router::{Admitted, AdmittedRouter, HasRouters, Reach, RouterUnknown};
use crate::store::{Store, Transaction as _};

/// Which names are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameRequest {
    /// Most names.
    pub limit: u32,
    /// Only names behind it, in the order of the database; `None` is the first page.
    pub after: Option<EventName>,
}

/// A page of names without a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndefinedEvents {
    /// The names, in their order.
    pub items: Vec<UndefinedEvent>,
    /// The name behind which the next page begins; `None` on the last one.
    pub next: Option<String>,
}

/// Creates, shows, changes and deletes event definitions. A definition whose router is out of the caller's reach is
/// not found.
#[derive(Debug)]
pub struct EventDefinitions<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> EventDefinitions<S>
where
    S::Tx: HasEventDefinitions + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Returns a page of definitions within reach, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        page: &PageRequest,
    ) -> Result<Page<CountedDefinition>, StorageError> {
        let mut tx = self.store.read().await?;
        let router = router.map(AdmittedRouter::id);
        let found = tx.event_definitions().list(router, reach.routers(), page).await?;
        let Page { items, next } = found;
        Ok(Page { items: counted(&mut tx, items).await?, next })
    }

    /// Returns a page of the names of tracked events of `router` that have no definition, in their order. It looks at
    /// [`MOST_LOOKED_AT`] names, so it may have fewer than its limit, and others after it all the same.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn undefined(
        &self,
        router: &AdmittedRouter,
        request: &NameRequest,
    ) -> Result<UndefinedEvents, StorageError> {
        let mut tx = self.store.read().await?;
        let after = request.after.as_ref().map_or("", EventName::as_str);
        let looked_at = tx.event_definitions().tracked_names(router, after, MOST_LOOKED_AT).await?;
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        let all = looked_at.len() < usize::try_from(MOST_LOOKED_AT).unwrap_or(usize::MAX);
        let last = looked_at.last().filter(|_| !all).map(|tracked| tracked.name.clone());
        let mut names = looked_at.into_iter().filter(|one| !one.is_defined).map(|one| one.name);
        let page: Vec<String> = names.by_ref().take(limit).collect();
        let next = if names.next().is_some() { page.last().cloned() } else { last };
        let mut counts = tx.event_definitions().occurrences_of_names(router, &page).await?;
        let with_count = |name: String| {
            let occurrences = counts.remove(&name).unwrap_or_default();
            UndefinedEvent::new(name, occurrences)
        };
        Ok(UndefinedEvents { items: page.into_iter().map(with_count).collect(), next })
    }

    /// Returns a definition.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &EventDefinitionId) -> Result<CountedDefinition, Error> {
        let mut tx = self.store.read().await?;
        let definition = within(tx.event_definitions().find(id).await?, reach)?;
        one_counted(&mut tx, definition).await
    }

    /// Creates a definition, once for each idempotency key.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::RouterUnknown`], [`Error::NameTaken`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewEventDefinition>,
        once: Option<Once<CountedDefinition>>,
    ) -> Result<Outcome<CountedDefinition>, Error> {
        let NewEventDefinition { router_id, name, description, properties } = new.into_inner();
        check(&properties)?;
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<CountedDefinition, Error> {
                tx.routers().find(&router_id).await?.ok_or(RouterUnknown)?;
                let (id, now) = (EventDefinitionId::generate(self.cx.ids()), self.cx.now());
                let definition = EventDefinition {
                    id,
                    router_id,
                    name,
                    description,
                    properties,
                    created_at: now,
                    updated_at: now,
                };
                tx.event_definitions().insert(&definition).await.map_err(Error::not_stored)?;
                one_counted(tx, definition).await
            })
            .await?;
        Ok(outcome.inspect(|made| self.changes.created(author, &made.definition)))
    }

    /// Changes a definition.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::NotFound`], [`Error::NameTaken`], [`Error::Storage`].
    pub async fn change(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &EventDefinitionId,
        change: EventDefinitionChange,
    ) -> Result<CountedDefinition, Error> {
        check(change.properties.as_deref().unwrap_or_default())?;
        let mut tx = self.store.begin().await?;
        let before = within(tx.event_definitions().find_for_update(id).await?, reach)?;
        let after = EventDefinition { updated_at: self.cx.now(), ..change.apply(before.clone()) };
        tx.event_definitions().save(&after).await.map_err(Error::not_stored)?;
        let counted = one_counted(&mut tx, after).await?;
        tx.commit().await?;
        self.changes.updated(author, &before, &counted.definition);
        Ok(counted)
    }

    /// Deletes a definition; its events stay.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &EventDefinitionId,
    ) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let before = within(tx.event_definitions().find_for_update(id).await?, reach)?;
        tx.event_definitions().delete(id).await?;
        tx.commit().await?;
        self.changes.deleted(author, &before);
        Ok(())
    }
}

fn check(properties: &[super::EventProperty]) -> Result<(), Error> {
    let findings = repeated(properties);
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}

fn within(found: Option<EventDefinition>, reach: Reach<'_>) -> Result<EventDefinition, Error> {
    found.filter(|definition| reach.contains(&definition.router_id)).ok_or(Error::NotFound)
}

/// Adds the counts of all, by one statement.
async fn counted<X: HasEventDefinitions>(
    tx: &mut X,
    definitions: Vec<EventDefinition>,
) -> Result<Vec<CountedDefinition>, StorageError> {
    let ids: Vec<_> = definitions.iter().map(|definition| definition.id.clone()).collect();
    let counts = tx.event_definitions().occurrences(&ids).await?;
    let with_count = |definition: EventDefinition| {
        let occurrences = counts.get(&definition.id).copied().unwrap_or_default();
        CountedDefinition { definition, occurrences }
    };
    Ok(definitions.into_iter().map(with_count).collect())
}

async fn one_counted<X: HasEventDefinitions>(
    tx: &mut X,
    definition: EventDefinition,
) -> Result<CountedDefinition, Error> {
    let counts = tx.event_definitions().occurrences(std::slice::from_ref(&definition.id)).await?;
    let occurrences = counts.into_values().next().unwrap_or_default();
    Ok(CountedDefinition { definition, occurrences })
}
