//! The use cases of those who administer contacts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::ContactError;
use crate::admin::contact::merge::{chats_to_close, merged};
use crate::change::{Author, Change, ChangeLog, Entity, EntityKind, Recorded as _};
use crate::chat::HasChats;
use crate::contact::{
    Alias, Contact, ContactAlias, ContactDetails, ContactFilter, ContactIdentity, ContactInsights,
    HasContactCatalog, HasContactInsights, HasContacts, INSIGHT_DAYS, channel_in, find_by_either_form,
    is_of_webchat,
};
use crate::context::OpContext;
use crate::fault::StorageError;
use crate::id::{ContactId, RouterId};
use crate::idempotency::{HasIdempotency, Once, Outcome, perform_once};
use crate::in_use::Dependants;
use crate::page::{Page, PageRequest};
use crate::router::{Admitted, HasRouters, Reach, Reachable, Route, RouterUnknown, router_gone};
use crate::session::{HasSessions, MAX_CONTACT_VARIABLES, SentVariables, merge_variables};
use crate::store::{Retries, Store, Transaction as _};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A contact to be.
#[derive(Debug, Clone)]
pub struct NewContact {
    /// Its identity.
    pub identity: ContactIdentity,
    /// Its name; without one it is called as its identity.
    pub name: Option<String>,
    /// Whether channels leave the name as it is; `None`: if there is one.
    pub name_locked: Option<bool>,
    /// Its variables.
    pub variables: SentVariables,
    /// The router that is to know it before it has written.
    pub router_id: Option<RouterId>,
}

/// A caller confined to routers names one of them, or the contact would be out of their reach.
impl Reachable for NewContact {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        reach.contains_record(self.router_id.as_ref())
    }
}

/// The changes to make to the name of a contact; an absent field stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContactNaming {
    /// The new name. It is locked, unless `locked` says otherwise.
    pub name: Option<String>,
    /// Whether channels leave the name as it is from now on.
    pub locked: Option<bool>,
}

impl ContactNaming {
    /// Names the contact.
    fn apply(&self, contact: &mut Contact) -> Result<(), ContactError> {
        if let Some(name) = &self.name
            && !contact.rename(name)
        {
            return Err(ContactError::NameBlank);
        }
        contact.name_locked = self.locked.unwrap_or(contact.name_locked);
        Ok(())
    }
}

/// Shows contacts and changes them. A contact is shared by all routers; who is confined to some sees those contacts
/// that they know: that have a chat or an opt-in with them, or were created for them.
#[derive(Debug)]
pub struct Contacts<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> Contacts<S>
where
    S::Tx: HasContactCatalog
        + HasRouters
        + HasContacts
        + HasSessions
        + HasContactInsights
        + HasChats
        + HasIdempotency,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Returns a page of contacts, newest first.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &ContactFilter,
        page: &PageRequest,
    ) -> Result<Page<Contact>, StorageError> {
        self.store.read().await?.contact_catalog().list(filter, reach.routers(), page).await
    }

    /// Returns a contact.
    ///
    /// # Errors
    /// [`ContactError::NotFound`], also for one out of reach.
    pub async fn get(&self, reach: Reach<'_>, id: &ContactId) -> Result<ContactDetails, ContactError> {
        find(&mut self.store.read().await?, reach, id).await
    }

    /// Creates a contact.
    ///
    /// # Errors
    /// Any [`ContactError`].
    pub async fn create(
        &self,
        author: &Author,
        reach: Reach<'_>,
        new: Admitted<NewContact>,
        once: Option<Once<ContactDetails>>,
    ) -> Result<Outcome<ContactDetails>, ContactError> {
        let new = new.into_inner();
        let router = new.router_id.clone();
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let identity = new.identity.as_str().to_owned();
            require_channel(tx, reach, new.identity.as_str(), "phoneNumber").await?;
            let mut contact =
                Contact::create(&self.cx, identity.clone(), identity.clone(), new.identity.channel());
            merge_variables(&mut contact.variables, &new.variables, MAX_CONTACT_VARIABLES)?;
            ContactNaming { name: new.name, locked: new.name_locked }.apply(&mut contact)?;
            let is_known = !find_by_either_form(tx, &[identity]).await?.is_empty();
            let contacts = std::slice::from_ref(&contact);
            if is_known || tx.contact_catalog().insert_new(contacts).await?.is_empty() {
                return Err(ContactError::Taken);
            }
            if let Some(router) = &new.router_id {
                tx.routers().find(router).await?.ok_or(RouterUnknown)?;
                let (contacts, routers) = (std::slice::from_ref(&contact.id), std::slice::from_ref(router));
                let linked = tx.contact_catalog().link(contacts, routers).await;
                linked.map_err(router_gone::<ContactError>)?;
            }
            Ok(ContactDetails::of(contact))
        })
        .await?;
        Ok(outcome.inspect(|details| {
            let contact = &details.contact;
            self.note(author, router.as_ref(), contact, Change::Created(contact.to_json()));
        }))
    }

    /// Names a contact, as [`Contact::rename`] does, and locks or unlocks the name.
    ///
    /// # Errors
    /// [`ContactError::NotFound`], [`ContactError::NameBlank`].
    pub async fn rename(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        naming: &ContactNaming,
    ) -> Result<ContactDetails, ContactError> {
        self.update(author, reach, id, |contact| naming.apply(contact)).await
    }

    /// Merges variables into those of a contact: shallow, and null is stored, as with sessions.
    ///
    /// # Errors
    /// Any [`ContactError`].
    pub async fn merge_variables(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        sent: &SentVariables,
    ) -> Result<Map<String, Value>, ContactError> {
        let details = self
            .update(author, reach, id, |contact| {
                Ok(merge_variables(&mut contact.variables, sent, MAX_CONTACT_VARIABLES)?)
            })
            .await?;
        Ok(details.contact.variables)
    }

    /// Removes a variable of a contact.
    ///
    /// # Errors
    /// [`ContactError::NothingThere`].
    pub async fn remove_variable(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        key: &str,
    ) -> Result<(), ContactError> {
        let remove =
            |contact: &mut Contact| contact.variables.remove(key).map(drop).ok_or(ContactError::NothingThere);
        self.update(author, reach, id, remove).await.map(drop)
    }

    /// Changes a contact under its lock, which turns take too: no writer loses the change of another.
    async fn update(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        change: impl FnOnce(&mut Contact) -> Result<(), ContactError>,
    ) -> Result<ContactDetails, ContactError> {
        let mut tx = self.store.begin().await?;
        let locked = tx.contacts().find_many_for_update(std::slice::from_ref(id)).await?.pop();
        let mut details = find(&mut tx, reach, id).await?;
        details.contact = locked.ok_or(ContactError::NotFound)?;
        let before = details.contact.clone();
        change(&mut details.contact)?;
        if details.contact == before {
            // Nobody is told of what stays as it is.
            tx.rollback().await;
            return Ok(details);
        }
        tx.contacts().save_many(&[&details.contact]).await?;
        tx.commit().await?;
        let contact = &details.contact;
        self.note(author, reach.only_router(), contact, contact.change_from(&before));
        Ok(details)
    }

    /// Notes a change. The record belongs to the router that the caller acts for, if that is one.
    fn note(&self, author: &Author, router_id: Option<&RouterId>, contact: &Contact, change: Change) {
        self.changes.note(author, Entity { router_id, ..contact.entity() }, change);
    }

    /// Notes that a contact has an alias more or less.
    fn note_alias(&self, author: &Author, reach: Reach<'_>, id: &ContactId, from: Value, to: Value) {
        let entity = Entity { kind: EntityKind::Contact, id: id.as_str(), router_id: reach.only_router() };
        let (before, after) = (json!({ "alias": from }), json!({ "alias": to }));
        self.changes.note(author, entity, Change::Updated { before, after, hidden: Vec::new() });
    }

    /// Deletes a contact. With chats or sessions it stays, unless `force`: then they go with it, and every message.
    /// A caller confined to routers may do so only with a contact that no other router knows.
    ///
    /// # Errors
    /// [`ContactError::NotFound`], [`ContactError::OutOfScope`], [`ContactError::InUse`].
    pub async fn delete(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        force: bool,
    ) -> Result<(), ContactError> {
        let mut tx = self.store.begin().await?;
        let ids = std::slice::from_ref(id);
        let sessions = tx.contact_catalog().live_sessions(ids).await?;
        let locked: Vec<_> = sessions.iter().map(|session| session.id.clone()).collect();
        tx.sessions().find_many_for_update(&locked).await?;
        tx.contacts().find_many_for_update(ids).await?;
        let contact = find(&mut tx, reach, id).await?.contact;
        known_only_to(&mut tx, reach, ids).await?;
        let chats = tx.contact_catalog().count_chats(id).await?;
        let sessions = i64::try_from(sessions.len()).unwrap_or(i64::MAX);
        if !force && (chats > 0 || sessions > 0) {
            let mut dependants = Dependants::default();
            dependants.sessions(sessions);
            dependants.chats(chats);
            return Err(ContactError::InUse(dependants));
        }
        tx.contact_catalog().delete(id).await?;
        tx.commit().await?;
        let mut gone = contact.to_json();
        (gone["chats"], gone["sessions"]) = (chats.into(), sessions.into());
        self.note(author, reach.only_router(), &contact, Change::Deleted(gone));
        Ok(())
    }

    /// Adds an alias: from then on its messages are the contact's (rulings C5). It needs the reach that creating a
    /// contact of this identity needs, and a contact that no router out of reach knows (rulings A12).
    ///
    /// # Errors
    /// [`ContactError::NotFound`], [`ContactError::OutOfScope`], [`ContactError::ChannelUnknown`],
    /// [`ContactError::AliasTaken`].
    pub async fn add_alias(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        alias: Alias,
    ) -> Result<ContactAlias, ContactError> {
        let mut tx = self.store.begin().await?;
        lock_own(&mut tx, reach, id).await?;
        require_channel(&mut tx, reach, alias.as_str(), "alias").await?;
        let alias = ContactAlias { contact_id: id.clone(), alias: alias.into(), created_at: self.cx.now() };
        if !tx.contact_catalog().add_alias(&alias).await? {
            return Err(ContactError::AliasTaken);
        }
        tx.commit().await?;
        self.note_alias(author, reach, id, Value::Null, alias.alias.as_str().into());
        Ok(alias)
    }

    /// Removes an alias, of a contact that no router out of reach knows. One of a channel that is gone may be removed,
    /// too.
    ///
    /// # Errors
    /// [`ContactError::NotFound`], [`ContactError::OutOfScope`], [`ContactError::NothingThere`].
    pub async fn remove_alias(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        alias: &str,
    ) -> Result<(), ContactError> {
        let mut tx = self.store.begin().await?;
        lock_own(&mut tx, reach, id).await?;
        if let Some(route) = route_of(&mut tx, alias).await? {
            // As if it were not there: the alias is none of the caller's business.
            reach.contains(&route.router_id).then_some(()).ok_or(ContactError::NothingThere)?;
        }
        if !tx.contact_catalog().remove_alias(id, alias).await? {
            return Err(ContactError::NothingThere);
        }
        tx.commit().await?;
        self.note_alias(author, reach, id, alias.into(), Value::Null);
        Ok(())
    }

    /// Returns the activity of a contact, with the routers within reach.
    ///
    /// # Errors
    /// [`ContactError::NotFound`].
    pub async fn insights(&self, reach: Reach<'_>, id: &ContactId) -> Result<ContactInsights, ContactError> {
        let mut tx = self.store.read().await?;
        find(&mut tx, reach, id).await?;
        let since = self.cx.now() - DAY * INSIGHT_DAYS;
        Ok(tx.contact_insights().insights(id, reach.routers(), since).await?)
    }

    /// Makes `other` part of a contact: chats, sessions, aliases, opt-ins and identities move, its own identity
    /// becomes an alias. Who is confined to routers may do so only with contacts that no other router knows.
    ///
    /// # Errors
    /// Any [`ContactError`].
    pub async fn merge(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        other: &ContactId,
    ) -> Result<ContactDetails, ContactError> {
        if id == other {
            return Err(ContactError::Itself);
        }
        let mut retries = Retries::default();
        loop {
            match self.try_merge(author, reach, id, other).await {
                Err(ContactError::Storage(error)) if error.is_lost_race() && retries.again() => {}
                result => return result,
            }
        }
    }

    async fn try_merge(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ContactId,
        other: &ContactId,
    ) -> Result<ContactDetails, ContactError> {
        let mut tx = self.store.begin().await?;
        let ids = [id.clone(), other.clone()];
        // In the order in which turns lock: sessions, then contacts.
        let sessions = tx.contact_catalog().live_sessions(&ids).await?;
        let locked: Vec<_> = sessions.iter().map(|session| session.id.clone()).collect();
        tx.sessions().find_many_for_update(&locked).await?;
        let contacts = tx.contacts().find_many_for_update(&ids).await?;
        let seen = tx.contact_catalog().find(&ids, reach.routers()).await?;
        let is_seen = |id: &ContactId| seen.iter().any(|details| details.contact.id == *id);
        let known = |id: &ContactId| contacts.iter().find(|contact| contact.id == *id && is_seen(id));
        let into = known(id).ok_or(ContactError::NotFound)?;
        let from = known(other).ok_or(ContactError::OtherUnknown)?;
        known_only_to(&mut tx, reach, &ids).await?;
        if tx.contact_catalog().live_sessions(&ids).await? != sessions {
            // One began before the contacts were locked, and is not.
            return Err(StorageError::Stale { entity: "session" }.into());
        }
        let chats = tx.contact_catalog().open_chats(&ids).await?;
        tx.chats().close_many(&chats_to_close(id, &chats, &sessions)?).await?;
        let contact = merged(into, from)?;
        tx.contact_catalog().absorb(&contact, from).await?;
        tx.contacts().save_many(&[&contact]).await?;
        let details = find(&mut tx, reach, id).await?;
        tx.commit().await?;
        let mut change = details.contact.change_from(into);
        if let Change::Updated { after, .. } = &mut change {
            after["mergedContactId"] = other.as_str().into();
        }
        self.note(author, reach.only_router(), &details.contact, change);
        self.note(author, reach.only_router(), from, Change::Deleted(from.to_json()));
        Ok(details)
    }
}

/// Returns the route of the channel that an identity names; `None` if it names none, or one that does not exist.
async fn route_of<T: HasRouters>(tx: &mut T, identity: &str) -> Result<Option<Route>, StorageError> {
    match channel_in(identity) {
        Some(channel) => Ok(tx.routers().find_routes(&[channel]).await?.pop()),
        None => Ok(None),
    }
}

/// Requires that the channel of an identity, if it names one, exists within reach. An identity of a channel of others
/// would make their visitor's messages those of the caller's contact.
async fn require_channel<T: HasRouters>(
    tx: &mut T,
    reach: Reach<'_>,
    identity: &str,
    field: &'static str,
) -> Result<(), ContactError> {
    if !is_of_webchat(identity) {
        return Ok(());
    }
    let route = route_of(tx, identity).await?.filter(|route| reach.contains(&route.router_id));
    route.map(drop).ok_or(ContactError::ChannelUnknown { field })
}

/// Locks a contact within reach that no router out of reach knows.
async fn lock_own<T: HasContacts + HasContactCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    id: &ContactId,
) -> Result<(), ContactError> {
    let ids = std::slice::from_ref(id);
    tx.contacts().find_many_for_update(ids).await?;
    find(tx, reach, id).await?;
    known_only_to(tx, reach, ids).await
}

/// Refuses contacts that a router out of reach knows, too.
async fn known_only_to<T: HasContactCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    contacts: &[ContactId],
) -> Result<(), ContactError> {
    let routers = tx.contact_catalog().routers_of(contacts).await?;
    if routers.iter().all(|(_, router)| reach.contains(router)) {
        Ok(())
    } else {
        Err(ContactError::OutOfScope)
    }
}

/// Returns the contact, if it is within reach.
pub(super) async fn find<T: HasContactCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    id: &ContactId,
) -> Result<ContactDetails, ContactError> {
    let found = tx.contact_catalog().find(std::slice::from_ref(id), reach.routers()).await?.pop();
    found.ok_or(ContactError::NotFound)
}
