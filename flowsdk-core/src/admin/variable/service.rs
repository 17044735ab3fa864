//! The use cases of variables (spec A 4.4).

use crate::words::NameQuery;
use std::sync::Arc;

use super::VariableError;
use crate::change::{Author, Change, ChangeLog, Entity};
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::fault::StorageError;
use crate::flow::HasFlows;
use crate::id::{RouterId, VariableId};
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::page::{NameSearch, Page, PageRequest};
use crate::router::{Admitted, HasRouters, Reach, VariableOwner};
use crate::store::{Store, Transaction as _};
use crate::variable::{HasVariables, NewVariable, Variable, VariableChange, VariableValue};

/// Creates, shows, changes and deletes the static variables of routers and flows.
///
/// A flow is within a caller's reach if its router is; one that is not is as good as none.
#[derive(Debug)]
pub struct Variables<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Variables<S>
where
    S::Tx: HasVariables + HasRouters + HasFlows + HasIdempotency,
{
    /// Creates a service over `store`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, cx, master_key, changes }
    }

    /// Returns a page of the variables of `owner` whose keys fit `query`, newest first.
    ///
    /// # Errors
    /// [`VariableError::RouterNotFound`], [`VariableError::FlowNotFound`], [`VariableError::Storage`].
    pub async fn list(
        &self,
        owner: &Admitted<VariableOwner>,
        reach: Reach<'_>,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<Variable>, VariableError> {
        let mut tx = self.store.read().await?;
        router_of(&mut tx, owner, reach).await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.variables().list(owner, &request).await?);
        }
        Ok(search.into_page())
    }

    /// Returns a variable of `owner`.
    ///
    /// # Errors
    /// [`VariableError::RouterNotFound`], [`VariableError::FlowNotFound`], [`VariableError::NotFound`],
    /// [`VariableError::Storage`].
    pub async fn get(
        &self,
        owner: &Admitted<VariableOwner>,
        reach: Reach<'_>,
        id: &VariableId,
    ) -> Result<Variable, VariableError> {
        let mut tx = self.store.read().await?;
        router_of(&mut tx, owner, reach).await?;
        tx.variables().find(owner, id).await?.ok_or(VariableError::NotFound)
    }

    /// Creates a variable, once for each idempotency key (rules 1 and 2).
    ///
    /// # Errors
    /// Any [`VariableError`].
    pub async fn create(
        &self,
        author: &Author,
        owner: Admitted<VariableOwner>,
        reach: Reach<'_>,
        new: NewVariable,
        once: Option<Once<Variable>>,
    ) -> Result<Outcome<Variable>, VariableError> {
        let owner = owner.into_inner();
        let mut router = None;
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            router = Some(router_of(tx, &owner, reach).await?);
            let now = self.cx.now();
            let variable = Variable {
                id: VariableId::generate(self.cx.ids()),
                owner,
                key: new.key,
                value: VariableValue::of(&new.value, new.is_secret, &self.master_key),
                created_at: now,
                updated_at: now,
            };
            match tx.variables().insert_if_absent(&variable).await {
                Ok(true) => {}
                Ok(false) => return Err(VariableError::KeyTaken),
                // The owner went after it was looked for.
                Err(StorageError::Orphan { .. }) => return Err(VariableError::no(&variable.owner)),
                Err(error) => return Err(error.into()),
            }
            Ok(variable)
        })
        .await?;
        Ok(outcome.inspect(|variable| {
            self.note(author, router.as_ref(), variable, Change::Created(variable.to_json()))
        }))
    }

    /// Sets the sent value of a variable, and makes it a secret, or not, if the change says so (rule 3).
    ///
    /// # Errors
    /// [`VariableError::RouterNotFound`], [`VariableError::FlowNotFound`], [`VariableError::NotFound`],
    /// [`VariableError::Storage`].
    pub async fn put(
        &self,
        author: &Author,
        owner: &Admitted<VariableOwner>,
        reach: Reach<'_>,
        id: &VariableId,
        change: VariableChange,
    ) -> Result<Variable, VariableError> {
        let mut tx = self.store.begin().await?;
        let router = router_of(&mut tx, owner, reach).await?;
        let before = tx.variables().find_for_update(owner, id).await?.ok_or(VariableError::NotFound)?;
        let is_secret = change.is_secret.unwrap_or(before.value.is_secret());
        let value = VariableValue::of(&change.value, is_secret, &self.master_key);
        let after = Variable { value, updated_at: self.cx.now(), ..before.clone() };
        tx.variables().save(&after).await?;
        tx.commit().await?;
        self.note(author, Some(&router), &after, after.change_from(&before));
        Ok(after)
    }

    /// Deletes a variable; the next turn does not have it (rule 4).
    ///
    /// # Errors
    /// [`VariableError::RouterNotFound`], [`VariableError::FlowNotFound`], [`VariableError::NotFound`],
    /// [`VariableError::Storage`].
    pub async fn delete(
        &self,
        author: &Author,
        owner: &Admitted<VariableOwner>,
        reach: Reach<'_>,
        id: &VariableId,
    ) -> Result<(), VariableError> {
        let mut tx = self.store.begin().await?;
        let router = router_of(&mut tx, owner, reach).await?;
        let before = tx.variables().find_for_update(owner, id).await?.ok_or(VariableError::NotFound)?;
        tx.variables().delete(&before).await?;
        tx.commit().await?;
        self.note(author, Some(&router), &before, Change::Deleted(before.to_json()));
        Ok(())
    }

    fn note(&self, author: &Author, router: Option<&RouterId>, variable: &Variable, change: Change) {
        let entity =
            Entity { kind: variable.owner.variable_kind(), id: variable.id.as_str(), router_id: router };
        self.changes.note(author, entity, change);
    }
}

/// Returns the router of `owner`. Should the owner go before the commit, its foreign key refuses the variable.
async fn router_of<X: HasRouters + HasFlows>(
    tx: &mut X,
    owner: &VariableOwner,
    reach: Reach<'_>,
) -> Result<RouterId, VariableError> {
    let router = match owner {
        VariableOwner::Router(id) => tx.routers().find(id).await?.map(|router| router.id),
        VariableOwner::Flow(id) => tx.flows().find(id).await?.map(|flow| flow.router_id),
    };
    router.filter(|router| reach.contains(router)).ok_or_else(|| VariableError::no(owner))
}
