//! The use cases of event definitions.

use crate::words::NameQuery;
use std::sync::Arc;

use super::{
    CountedDefinition, EventDefinition, EventDefinitionChange, EventDefinitionError as Error,
    EventDefinitionId, HasEventCounts, NewEventDefinition, UndefinedEvent,
};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::flow::EventName;
use crate::id::RouterId;
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::page::{MOST_LOOKED_AT, NameSearch, Page, PageRequest};
use crate::record::{HasRecords, NewRecord as _, RecordChange as _, RouterRecords, steps};
use crate::router::{Admitted, AdmittedRouter, HasRouters, Reach};
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

/// Creates, shows, changes and deletes event definitions, and counts their events. A definition whose router is out of
/// the caller's reach is not found.
#[derive(Debug)]
pub struct EventDefinitions<S> {
    records: RouterRecords<S, EventDefinition>,
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> EventDefinitions<S>
where
    S::Tx: HasRecords<EventDefinition> + HasEventCounts + HasRouters + HasIdempotency,
{
    /// Creates a service over `store` that notes its changes in `changes`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        let records = RouterRecords::new(Arc::clone(&store), cx.clone(), Arc::clone(&changes));
        Self { records, store, cx, changes }
    }

    /// Returns a page of the definitions within reach whose names fit `query`, newest first; of a router, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: &Admitted<Option<RouterId>>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<CountedDefinition>, StorageError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.records().list(router, reach.routers(), &request).await?);
        }
        let Page { items, next } = search.into_page();
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
        let looked_at = tx.event_counts().tracked_names(router, after, MOST_LOOKED_AT).await?;
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        let all = looked_at.len() < usize::try_from(MOST_LOOKED_AT).unwrap_or(usize::MAX);
        let last = looked_at.last().filter(|_| !all).map(|tracked| tracked.name.clone());
        let mut names = looked_at.into_iter().filter(|one| !one.is_defined).map(|one| one.name);
        let page: Vec<String> = names.by_ref().take(limit).collect();
        let next = if names.next().is_some() { page.last().cloned() } else { last };
        let mut counts = tx.event_counts().of_names(router, &page).await?;
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
        let definition = steps::find(&mut tx, reach, id).await?;
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
        let new = new.into_inner();
        new.check()?;
        let outcome =
            perform_once(&*self.store, once, self.cx.now(), async |tx| -> Result<CountedDefinition, Error> {
                let definition = steps::create(tx, new, &self.cx).await?;
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
        change.check()?;
        let mut tx = self.store.begin().await?;
        let (before, after) = steps::change(&mut tx, reach, id, change, self.cx.now()).await?;
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
        self.records.delete(author, reach, id).await
    }
}

/// Adds the counts of all, by one statement.
async fn counted<X: HasEventCounts>(
    tx: &mut X,
    definitions: Vec<EventDefinition>,
) -> Result<Vec<CountedDefinition>, StorageError> {
    let ids: Vec<_> = definitions.iter().map(|definition| definition.id.clone()).collect();
    let counts = tx.event_counts().of_definitions(&ids).await?;
    let with_count = |definition: EventDefinition| {
        let occurrences = counts.get(&definition.id).copied().unwrap_or_default();
        CountedDefinition { definition, occurrences }
    };
    Ok(definitions.into_iter().map(with_count).collect())
}

async fn one_counted<X: HasEventCounts>(
    tx: &mut X,
    definition: EventDefinition,
) -> Result<CountedDefinition, Error> {
    let counts = tx.event_counts().of_definitions(std::slice::from_ref(&definition.id)).await?;
    let occurrences = counts.into_values().next().unwrap_or_default();
    Ok(CountedDefinition { definition, occurrences })
}
