//! The use cases of users (spec A 4.2).

use flowsdk_core::words::NameQuery;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use flowsdk_core::change::{Change, Recorded as _};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use flowsdk_core::page::{NameSearch, Page, PageRequest};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_crypto::PasswordHasher;
use secrecy::SecretString;

use super::{HasUsers, NewUser, PasswordRule, User, UserChange, UserError, UserFilter, UserRole};
use crate::audit::AuditRecorder;
use crate::group::{Group, HasGroups};
use crate::principal::Actor;
use crate::recovery::HasPasswordRecoveries;

/// A user with their group.
pub type UserWithGroup = (User, Option<Group>);

/// Creates, shows, changes and deletes users.
#[derive(Debug)]
pub struct Users<S> {
    store: Arc<S>,
    cx: OpContext,
    hasher: PasswordHasher,
    audit: AuditRecorder,
    password_cost: u32,
}

impl<S: Store> Users<S>
where
    S::Tx: HasUsers + HasGroups + HasPasswordRecoveries + HasIdempotency,
{
    /// Creates a service over `store`; passwords are hashed with `password_cost`.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        hasher: PasswordHasher,
        audit: AuditRecorder,
        password_cost: u32,
    ) -> Self {
        Self { store, cx, hasher, audit, password_cost }
    }

    /// Creates a user, once for each idempotency key.
    ///
    /// # Errors
    /// [`UserError::Password`], [`UserError::EmailTaken`], [`UserError::GroupUnknown`],
    /// [`UserError::Idempotency`], [`UserError::Busy`], [`UserError::Storage`].
    pub async fn create(
        &self,
        actor: &Actor,
        new: NewUser,
        once: Option<Once<UserWithGroup>>,
    ) -> Result<Outcome<UserWithGroup>, UserError> {
        let hash = self.hash(&new.password).await?;
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let group = lock_group(tx, new.group_id.as_ref()).await?;
            let user = new.into_user(UserId::generate(self.cx.ids()), hash, self.cx.now());
            if !tx.users().insert_if_absent(&user).await? {
                return Err(UserError::EmailTaken);
            }
            Ok((user, group))
        })
        .await?;
        Ok(outcome.inspect(|(user, _)| {
            self.audit.note(&self.cx, actor, user, &Change::Created(user.to_json()));
        }))
    }

    /// Returns a user.
    ///
    /// # Errors
    /// [`UserError::NotFound`], [`UserError::Storage`].
    pub async fn get(&self, id: &UserId) -> Result<UserWithGroup, UserError> {
        let mut tx = self.store.read().await?;
        let user = tx.users().find(id).await?.ok_or(UserError::NotFound)?;
        let group = match &user.group_id {
            Some(id) => tx.groups().find_many(std::slice::from_ref(id)).await?.pop(),
            None => None,
        };
        Ok((user, group))
    }

    /// Returns a page of the users whose names or addresses fit `query`, newest first, with their groups.
    ///
    /// # Errors
    /// [`UserError::Storage`].
    pub async fn list(
        &self,
        filter: &UserFilter,
        query: Option<&NameQuery>,
        page: &PageRequest,
    ) -> Result<Page<UserWithGroup>, UserError> {
        let mut tx = self.store.read().await?;
        let mut search = NameSearch::new(query, page);
        while let Some(request) = search.next_request() {
            search.take(tx.users().list(filter, &request).await?);
        }
        let page = search.into_page();
        let ids: HashSet<_> = page.items.iter().filter_map(|user| user.group_id.clone()).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let groups = if ids.is_empty() { Vec::new() } else { tx.groups().find_many(&ids).await? };
        let groups: HashMap<_, _> = groups.into_iter().map(|group| (group.id.clone(), group)).collect();
        Ok(page.map(|user| {
            let group = user.group_id.as_ref().and_then(|id| groups.get(id)).cloned();
            (user, group)
        }))
    }

    /// Changes a user. An administrator may demote themselves, unless they are the last one.
    ///
    /// # Errors
    /// Any [`UserError`] but [`UserError::Idempotency`].
    pub async fn change(
        &self,
        actor: &Actor,
        id: &UserId,
        change: UserChange,
    ) -> Result<UserWithGroup, UserError> {
        let hash = match &change.password {
            Some(password) => Some(self.hash(password).await?),
            None => None,
        };
        let changes_password = hash.is_some();
        // Groups are locked before users, as whoever deletes a group does, and all administrators before one
        // user: two changes never wait for each other.
        let mut tx = self.store.begin().await?;
        let chosen = change.group_id.as_ref().and_then(Option::as_ref);
        let chosen = lock_group(&mut tx, chosen).await?;
        let administrators = match change.role {
            Some(UserRole::Member) => Some(tx.users().administrators_for_update().await?),
            _ => None,
        };
        let before = tx.users().find_for_update(id).await?.ok_or(UserError::NotFound)?;
        if administrators.is_some_and(|all| is_last(&all, id)) {
            return Err(UserError::LastAdministrator);
        }
        let after = change.apply(before.clone(), hash, self.cx.now());
        tx.users().save(&after).await.map_err(address_taken)?;
        if changes_password {
            // A code on its way must not undo it.
            tx.password_recoveries().complete_all(id).await?;
        }
        let group = match (chosen, &after.group_id) {
            (Some(group), _) => Some(group),
            (None, Some(id)) => tx.groups().find_many(std::slice::from_ref(id)).await?.pop(),
            (None, None) => None,
        };
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &after, &Change::updated(&before, &after));
        Ok((after, group))
    }

    /// Deletes a user with their devices and recoveries; their tokens are those of nobody afterwards.
    ///
    /// # Errors
    /// [`UserError::NotFound`], [`UserError::LastAdministrator`], [`UserError::Storage`].
    pub async fn delete(&self, actor: &Actor, id: &UserId) -> Result<(), UserError> {
        let mut tx = self.store.begin().await?;
        let administrators = tx.users().administrators_for_update().await?;
        let before = tx.users().find_for_update(id).await?.ok_or(UserError::NotFound)?;
        if is_last(&administrators, id) {
            return Err(UserError::LastAdministrator);
        }
        tx.users().delete(id).await?;
        tx.commit().await?;
        self.audit.note(&self.cx, actor, &before, &Change::Deleted(before.to_json()));
        Ok(())
    }

    async fn hash(&self, password: &SecretString) -> Result<String, UserError> {
        PasswordRule::check(password)?;
        Ok(self.hasher.hash(password, self.password_cost).await?)
    }
}

fn is_last(administrators: &[UserId], id: &UserId) -> bool {
    matches!(administrators, [only] if only == id)
}

/// Locks the group, so that it is still there at the commit.
async fn lock_group<X: HasGroups>(tx: &mut X, id: Option<&GroupId>) -> Result<Option<Group>, UserError> {
    match id {
        None => Ok(None),
        Some(id) => tx.groups().find_for_update(id).await?.map(Some).ok_or(UserError::GroupUnknown),
    }
}

/// Returns the only unique rule that a change can break.
fn address_taken(error: StorageError) -> UserError {
    match error {
        StorageError::Unique { .. } => UserError::EmailTaken,
        other => UserError::Storage(other),
    }
}
