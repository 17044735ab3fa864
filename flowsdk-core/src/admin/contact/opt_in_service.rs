//! The use cases of those who administer opt-ins (spec A 4.6).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::json;

use super::{ContactError, Import, ImportReport, ImportRow};
use crate::admin::contact::import::{Rows, Whose};
use crate::admin::contact::service::find;
use crate::change::{Attempt, Author, Change, ChangeLog, Entity, EntityKind, Refused};
use crate::contact::{
    Contact, ContactAlias, ContactOptIn, HasContactCatalog, HasContacts, HasOptInCatalog, HasOptIns,
    OptInFilter, OptInSource, forms_of, other_form,
};
use crate::context::OpContext;
use crate::fault::{Fault, StorageError};
use crate::id::ContactId;
use crate::idempotency::{HasIdempotency, IdempotencyConflict, Once, Outcome, perform_once};
use crate::page::{Page, PageRequest};
use crate::router::{AdmittedRouter, HasRouters, Reach};
use crate::session::Channel;
use crate::store::{Retries, Store};

/// Why a use case of opt-ins fails.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum OptInError {
    /// No such router.
    #[error("no such router")]
    #[fault(NotFound, "not_found", pt = "Roteador não encontrado", en = "Router not found")]
    RouterNotFound,
    /// Rows are bad, and all or none were to be imported.
    #[error("rows are refused")]
    #[fault(
        Unprocessable, "import_refused",
        pt = "Há linhas inválidas; nada foi importado", en = "There are invalid rows; nothing was imported",
        details = .0.details()
    )]
    Refused(ImportReport),
    /// The request was repeated with other content.
    #[error(transparent)]
    #[fault(transparent)]
    Idempotency(#[from] IdempotencyConflict),
    /// Storage failed.
    #[error(transparent)]
    #[fault(transparent)]
    Storage(#[from] StorageError),
}

/// Shows and imports opt-ins.
#[derive(Debug)]
pub struct OptIns<S> {
    store: Arc<S>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> OptIns<S>
where
    S::Tx: HasOptIns + HasOptInCatalog + HasRouters + HasContactCatalog + HasContacts + HasIdempotency,
{
    /// Creates a service over `store`.
    pub fn new(store: Arc<S>, cx: OpContext, changes: Arc<dyn ChangeLog>) -> Self {
        Self { store, cx, changes }
    }

    /// Returns the latest opt-in of a contact at a router, if there is one.
    ///
    /// # Errors
    /// [`ContactError::NotFound`].
    pub async fn current(
        &self,
        reach: Reach<'_>,
        contact: &ContactId,
        router: &AdmittedRouter,
    ) -> Result<Option<ContactOptIn>, ContactError> {
        let mut tx = self.store.read().await?;
        find(&mut tx, reach, contact).await?;
        Ok(tx.opt_ins().current(contact, router).await?)
    }

    /// Returns a page of everything a contact said, newest first, to the routers within reach.
    ///
    /// # Errors
    /// [`ContactError::NotFound`].
    pub async fn history(
        &self,
        reach: Reach<'_>,
        contact: &ContactId,
        page: &PageRequest,
    ) -> Result<Page<ContactOptIn>, ContactError> {
        let mut tx = self.store.read().await?;
        find(&mut tx, reach, contact).await?;
        Ok(tx.opt_in_catalog().history(contact, reach.routers(), page).await?)
    }

    /// Returns a page of the latest opt-ins at a router, newest first.
    ///
    /// # Errors
    /// [`OptInError::RouterNotFound`].
    pub async fn of_router(
        &self,
        router: &AdmittedRouter,
        filter: &OptInFilter,
        page: &PageRequest,
    ) -> Result<Page<(ContactOptIn, Contact)>, OptInError> {
        let mut tx = self.store.read().await?;
        tx.routers().find(router).await?.ok_or(OptInError::RouterNotFound)?;
        Ok(tx.opt_in_catalog().of_router(router, filter, page).await?)
    }

    /// Imports rows in one transaction: the good ones, or all or none, as `import` says. Contacts that are not known
    /// are created by their numbers; the router knows all of them from then on. Who is confined to routers cannot
    /// get to see contacts of other routers that way: such rows are refused, as any other, and the attempt is noted. It
    /// is done once for each idempotency key.
    ///
    /// # Errors
    /// Any [`OptInError`].
    pub async fn import(
        &self,
        author: &Author,
        reach: Reach<'_>,
        router: &AdmittedRouter,
        import: &Import,
        once: Option<Once<ImportReport>>,
    ) -> Result<Outcome<ImportReport>, OptInError> {
        let now = self.cx.now();
        let mut retries = Retries::default();
        let (outcome, reach_beyond) = loop {
            let mut rows = Rows::read(import, now);
            let done = perform_once(&*self.store, once.clone(), now, async |tx| {
                tx.routers().find(router).await?.ok_or(OptInError::RouterNotFound)?;
                let known = rows.refuse_out_of_reach(tx, reach, import).await?;
                let (total, refused) = (import.rows.len(), rows.refused.clone());
                if import.strict && !refused.is_empty() {
                    let report = ImportReport { total, imported: 0, created_contacts: 0, refused };
                    return Err(OptInError::Refused(report));
                }
                let created_contacts = self.append(tx, router, &rows.good, known).await?;
                Ok(ImportReport { total, imported: rows.good.len(), created_contacts, refused })
            });
            match done.await {
                Err(OptInError::Storage(error)) if error.is_lost_race() && retries.again() => {}
                outcome => break (outcome, rows.reach_beyond),
            }
        };
        if reach_beyond && !reach.is_all() {
            self.changes.refused(
                author,
                Refused {
                    attempt: Attempt::Create,
                    kind: EntityKind::OptIn,
                    id: None,
                    router_id: Some(router.id()),
                    code: "import_refused",
                },
            );
        }
        if let Ok(Outcome::Done(report)) = &outcome
            && report.imported > 0
        {
            let entity =
                Entity { kind: EntityKind::OptIn, id: router.id().as_str(), router_id: Some(router.id()) };
            let done = json!({ "total": report.total, "imported": report.imported,
                "createdContacts": report.created_contacts, "refused": report.refused.len() });
            self.changes.note(author, entity, Change::Created(done));
        }
        outcome
    }

    /// Appends an opt-in for each row; `known` are the contacts that the numbers have. Returns how many contacts were
    /// created.
    async fn append(
        &self,
        tx: &mut S::Tx,
        router: &AdmittedRouter,
        rows: &[(usize, ImportRow)],
        known: HashMap<String, ContactId>,
    ) -> Result<usize, StorageError> {
        let (by_phone, created) = self.by_phone(tx, rows, known).await?;
        let mut contacts = Vec::with_capacity(rows.len());
        let mut records = Vec::with_capacity(rows.len());
        for (_, row) in rows {
            let contact_id = match &row.whose {
                Whose::Contact(id) => id.clone(),
                // Every number has its contact by now.
                Whose::Phone(phone) => {
                    by_phone.get(phone).cloned().ok_or(StorageError::Stale { entity: "contact" })?
                }
            };
            contacts.push(contact_id.clone());
            records.push(ContactOptIn {
                id: self.cx.ids().next_id(),
                contact_id,
                router_id: router.id().clone(),
                status: row.status,
                chat_id: None,
                source: OptInSource::Import,
                recorded_at: row.recorded_at,
            });
        }
        tx.contact_catalog().link(&contacts, std::slice::from_ref(router.id())).await?;
        tx.opt_ins().append_many(&records).await?;
        Ok(created)
    }

    /// Returns the contacts of the rows' numbers: those that are `known`, and new ones. Returns also how many were created.
    async fn by_phone(
        &self,
        tx: &mut S::Tx,
        rows: &[(usize, ImportRow)],
        mut known: HashMap<String, ContactId>,
    ) -> Result<(HashMap<String, ContactId>, usize), StorageError> {
        // In one order everywhere, so that two imports do not wait for each other.
        let mut phones = BTreeSet::new();
        let (mut places, mut names) = (HashMap::new(), HashMap::new());
        for (place, row) in rows {
            if let Some(phone) = row.whose.phone().filter(|phone| !known.contains_key(*phone)) {
                phones.insert(phone.clone());
                places.entry(phone.clone()).or_insert(*place);
                if let Some(name) = &row.name {
                    names.entry(phone.clone()).or_insert(name.clone());
                }
            }
        }
        if !phones.is_empty() {
            // In the order in which turns lock: contacts, then numbers. Rows refer to these contacts later.
            let named = rows.iter().filter_map(|(_, row)| row.whose.contact());
            let locked: BTreeSet<&ContactId> = named.chain(known.values()).collect();
            tx.contacts().find_many_for_update(&locked.into_iter().cloned().collect::<Vec<_>>()).await?;
        }
        // Of two forms of a number the first one is the contact's, and the other one is an alias.
        let is_second = |phone: &String| {
            let other = other_form(phone).and_then(|other| places.get(&other));
            other.is_some_and(|other| places.get(phone).is_some_and(|place| other < place))
        };
        let (second, first): (Vec<String>, Vec<String>) = phones.into_iter().partition(is_second);
        let new = first.into_iter().map(|phone| {
            let name = forms_of(&phone).find_map(|form| names.get(&form).cloned());
            let name = name.unwrap_or_else(|| phone.clone());
            Contact::create(&self.cx, phone, name, Channel::Phone)
        });
        let new: Vec<Contact> = new.collect();
        if tx.contact_catalog().insert_new(&new).await?.len() < new.len() {
            // Others made one of them meanwhile: the next attempt asks whether it is within reach.
            return Err(StorageError::Stale { entity: "contact" });
        }
        let created = new.len();
        known.extend(new.into_iter().map(|contact| (contact.phone_number, contact.id)));
        let mut aliases = Vec::with_capacity(second.len());
        for alias in second {
            if let Some(contact_id) = other_form(&alias).and_then(|first| known.get(&first).cloned()) {
                known.insert(alias.clone(), contact_id.clone());
                aliases.push(ContactAlias { contact_id, alias, created_at: self.cx.now() });
            }
        }
        if !aliases.is_empty() {
            tx.contacts().add_aliases(&aliases).await?;
        }
        Ok((known, created))
    }
}
