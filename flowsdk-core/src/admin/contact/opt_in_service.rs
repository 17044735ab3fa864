//! The use cases of those who administer opt-ins (spec A 4.6).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::json;

use super::{ContactError, ImportReport, ImportRow, RefusedRow, SentRow};
use crate::admin::contact::import::Whose;
use crate::admin::contact::service::find;
use crate::change::{Attempt, Author, Change, ChangeLog, Entity, EntityKind, Refused};
use crate::contact::{
    Contact, ContactAlias, ContactOptIn, HasContactCatalog, HasContacts, HasOptInCatalog, HasOptIns,
    OptInFilter, OptInSource, find_by_either_form, forms_of, other_form,
};
use crate::context::OpContext;
use crate::fault::{Fault, StorageError};
use crate::id::ContactId;
use crate::idempotency::{HasIdempotency, IdempotencyConflict, Once, Outcome, perform_once};
use crate::page::{Page, PageRequest};
use crate::router::{AdmittedRouter, HasRouters, Reach};
use crate::session::Channel;
use crate::store::Store;
use crate::text::Text;
use crate::time::Timestamp;

/// How often an import is tried that lost a race.
const ATTEMPTS: u32 = 5;

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

/// Rows to import.
#[derive(Debug, Clone)]
pub struct Import {
    /// The rows, in order: of several of one contact and moment the last counts.
    pub rows: Vec<SentRow>,
    /// Whether one bad row refuses all.
    pub strict: bool,
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
        let read = Rows::read(import, now);
        let mut rows = read.clone();
        let mut attempt = 1;
        let outcome = loop {
            let done = perform_once(&*self.store, once.clone(), now, async |tx| {
                tx.routers().find(router).await?.ok_or(OptInError::RouterNotFound)?;
                rows.refuse_out_of_reach(tx, reach, import).await?;
                let total = import.rows.len();
                let refused = rows.refused.clone();
                if import.strict && !refused.is_empty() {
                    let report = ImportReport { total, imported: 0, created_contacts: 0, refused };
                    return Err(OptInError::Refused(report));
                }
                let created_contacts = self.append(tx, router, &rows.good).await?;
                Ok(ImportReport { total, imported: rows.good.len(), created_contacts, refused })
            })
            .await;
            match done {
                Err(OptInError::Storage(error)) if error.is_transient() && attempt < ATTEMPTS => {
                    attempt += 1;
                    rows.clone_from(&read);
                }
                done => break done,
            }
        };
        if rows.reach_beyond && !reach.is_all() {
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

    /// Appends an opt-in for each row. Returns how many contacts were created.
    async fn append(
        &self,
        tx: &mut S::Tx,
        router: &AdmittedRouter,
        rows: &[(usize, ImportRow)],
    ) -> Result<usize, StorageError> {
        let (by_phone, created) = self.by_phone(tx, rows).await?;
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

    /// Returns the contacts of the rows' numbers, and how many were created.
    async fn by_phone(
        &self,
        tx: &mut S::Tx,
        rows: &[(usize, ImportRow)],
    ) -> Result<(HashMap<String, ContactId>, usize), StorageError> {
        let mut phones: Vec<String> = Vec::new();
        let (mut places, mut names) = (HashMap::new(), HashMap::new());
        for (place, row) in rows {
            if let Whose::Phone(phone) = &row.whose {
                phones.push(phone.clone());
                places.entry(phone.clone()).or_insert(*place);
                if let Some(name) = &row.name {
                    names.entry(phone.clone()).or_insert(name.clone());
                }
            }
        }
        // In one order everywhere, so that two imports do not wait for each other.
        phones.sort_unstable();
        phones.dedup();
        let ids =
            |found: HashMap<String, Contact>| found.into_iter().map(|(phone, contact)| (phone, contact.id));
        let mut known: HashMap<String, ContactId> = ids(find_by_either_form(tx, &phones).await?).collect();
        phones.retain(|phone| !known.contains_key(phone));
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
        let new = first.iter().map(|phone| {
            let name = forms_of(phone).find_map(|form| names.get(&form).cloned());
            Contact::create(&self.cx, phone.clone(), name.unwrap_or_else(|| phone.clone()), Channel::Phone)
        });
        let created = tx.contact_catalog().insert_new(&new.collect::<Vec<_>>()).await?.len();
        if !first.is_empty() {
            let asked: Vec<String> = first.iter().chain(&second).cloned().collect();
            known.extend(ids(find_by_either_form(tx, &asked).await?));
        }
        let aliases = second.into_iter().filter_map(|alias| {
            let contact_id = known.get(&alias)?.clone();
            Some(ContactAlias { contact_id, alias, created_at: self.cx.now() })
        });
        let aliases: Vec<ContactAlias> = aliases.collect();
        if !aliases.is_empty() {
            tx.contacts().add_aliases(&aliases).await?;
        }
        Ok((known, created))
    }
}

/// The rows of an import, as they are read.
#[derive(Debug, Clone)]
struct Rows {
    /// With the place of each among all rows, from 0.
    good: Vec<(usize, ImportRow)>,
    refused: Vec<RefusedRow>,
    /// Whether a row names a contact out of reach.
    reach_beyond: bool,
}

impl Rows {
    fn read(import: &Import, now: Timestamp) -> Self {
        let mut rows =
            Self { good: Vec::with_capacity(import.rows.len()), refused: Vec::new(), reach_beyond: false };
        for (index, sent) in import.rows.iter().enumerate() {
            match ImportRow::read(sent, now) {
                Ok(row) => rows.good.push((index, row)),
                Err((field, reason)) => {
                    rows.refused.push(RefusedRow { row: index, line: sent.line, field, reason });
                }
            }
        }
        rows
    }

    /// Refuses the rows of contacts that are out of reach, or not there.
    async fn refuse_out_of_reach<T: HasContacts + HasContactCatalog>(
        &mut self,
        tx: &mut T,
        reach: Reach<'_>,
        import: &Import,
    ) -> Result<(), StorageError> {
        let known = known_ids(tx, reach, &self.good).await?;
        let hidden = hidden_numbers(tx, reach, &self.good).await?;
        let Self { good, refused, reach_beyond } = self;
        good.retain(|(index, row)| {
            let (field, reason) = match &row.whose {
                Whose::Contact(id) if !known.contains(id) => {
                    ("contactId", Text::new("Contato não encontrado", "Contact not found"))
                }
                // It says nothing of the contact's routers.
                Whose::Phone(phone) if hidden.contains(phone) => (
                    "phoneNumber",
                    Text::new("O contato não pode ser importado", "The contact cannot be imported"),
                ),
                _ => return true,
            };
            *reach_beyond = true;
            refused.push(RefusedRow { row: *index, line: import.rows[*index].line, field, reason });
            false
        });
        refused.sort_by_key(|row| row.row);
        Ok(())
    }
}

/// Returns the numbers of rows that are of contacts out of reach.
async fn hidden_numbers<T: HasContacts + HasContactCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    rows: &[(usize, ImportRow)],
) -> Result<HashSet<String>, StorageError> {
    if reach.is_all() {
        return Ok(HashSet::new());
    }
    let mut phones: Vec<String> = rows
        .iter()
        .filter_map(|(_, row)| match &row.whose {
            Whose::Phone(phone) => Some(phone.clone()),
            Whose::Contact(_) => None,
        })
        .collect();
    phones.sort_unstable();
    phones.dedup();
    let found = find_by_either_form(tx, &phones).await?;
    let ids: Vec<ContactId> = found.values().map(|contact| contact.id.clone()).collect();
    let seen = tx.contact_catalog().find(&ids, reach.routers()).await?;
    let seen: HashSet<ContactId> = seen.into_iter().map(|details| details.contact.id).collect();
    Ok(found.into_iter().filter(|(_, contact)| !seen.contains(&contact.id)).map(|(phone, _)| phone).collect())
}

/// Returns the contacts among those that rows name by id which are within reach.
async fn known_ids<T: HasContactCatalog>(
    tx: &mut T,
    reach: Reach<'_>,
    rows: &[(usize, ImportRow)],
) -> Result<HashSet<ContactId>, StorageError> {
    let mut ids: Vec<ContactId> = rows.iter().filter_map(|(_, row)| row.whose.contact().cloned()).collect();
    if ids.is_empty() {
        return Ok(Default::default());
    }
    ids.sort_unstable();
    ids.dedup();
    let found = tx.contact_catalog().find(&ids, reach.routers()).await?;
    Ok(found.into_iter().map(|details| details.contact.id).collect())
}
