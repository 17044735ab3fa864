//! The use cases of import drafts.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::plan::{Target, Variables, differences, findings, plan, touched};
use super::{
    CheckedDraft, DraftCheck, DraftFilter, DraftStatus, HasImportDrafts, ImportDraft,
    ImportDraftError as Error, ImportDraftId, NewImportDraft,
};
use crate::aside::aside;
use crate::change::Author;
use crate::fault::StorageError;
use crate::id::RouterId;
use crate::idempotency::{Once, Outcome, perform_once};
use crate::page::{Page, PageRequest};
use crate::router::{
    Admitted, AdmittedRouter, HasRouterCatalog as _, Reach, Router, RouterUnknown, VariableOwner, router_gone,
};
use crate::store::{Store, Transaction as _};
use crate::transfer::import::variables_of;
use crate::transfer::{ImportReport, OnConflict, TransferFile, TransferTx, Transfers};

/// Most drafts of a router that have not expired.
pub const MAX_DRAFTS: i64 = 10;
/// How long a draft is kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Checks uploads, shows their plans and applies them once. A draft whose router is out of the caller's reach is not
/// found, and neither is one that has expired.
#[derive(Debug)]
pub struct ImportDrafts<S> {
    transfers: Arc<Transfers<S>>,
}

impl<S: Store> ImportDrafts<S>
where
    S::Tx: TransferTx + HasImportDrafts,
{
    /// Creates a service that imports as `transfers` does.
    pub fn new(transfers: Arc<Transfers<S>>) -> Self {
        Self { transfers }
    }

    fn store(&self) -> &S {
        &self.transfers.store
    }

    /// Returns a page of drafts within reach, newest first; of `router`, if it is given.
    ///
    /// # Errors
    /// [`StorageError`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        router: Option<&AdmittedRouter>,
        page: &PageRequest,
    ) -> Result<Page<ImportDraft>, StorageError> {
        let router_id = router.map(|router| router.id().clone());
        let filter = DraftFilter { router_id, now: self.transfers.cx.now() };
        self.store().read().await?.import_drafts().list(&filter, reach.routers(), page).await
    }

    /// Returns a draft.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &ImportDraftId) -> Result<CheckedDraft, Error> {
        let mut tx = self.store().read().await?;
        let draft = self.within(tx.import_drafts().find(id).await?, reach)?;
        let check = tx.import_drafts().check(id).await?.ok_or(Error::NotFound)?;
        Ok(CheckedDraft { draft, check })
    }

    /// Returns the file of a draft, as JSON.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn file(&self, reach: Reach<'_>, id: &ImportDraftId) -> Result<String, Error> {
        let mut tx = self.store().read().await?;
        self.within(tx.import_drafts().find(id).await?, reach)?;
        tx.import_drafts().file(id).await?.ok_or(Error::NotFound)
    }

    /// Checks a file against its router and keeps both, once for each idempotency key. A file with errors is kept, too.
    ///
    /// # Errors
    /// [`Error::RouterUnknown`], [`Error::TooMany`], [`Error::Idempotency`], [`Error::Storage`].
    pub async fn create(
        &self,
        author: &Author,
        new: Admitted<NewImportDraft>,
        once: Option<Once<CheckedDraft>>,
    ) -> Result<Outcome<CheckedDraft>, Error> {
        let NewImportDraft { router_id, on_conflict, file } = new.into_inner();
        let (file, checked) = self.transfers.look_through(file).await?;
        let (json, file) = written(file).await?;
        let now = self.transfers.cx.now();
        let outcome = perform_once(self.store(), once, now, async |tx| -> Result<CheckedDraft, Error> {
            let router = tx.router_catalog().find_for_update(&router_id).await?.ok_or(RouterUnknown)?;
            if tx.import_drafts().count(&router.id, now).await? >= MAX_DRAFTS {
                return Err(Error::TooMany);
            }
            let check = match checked {
                Ok(()) => planned(tx, &router, &file, on_conflict).await?,
                Err(error) => DraftCheck { errors: findings(error), ..DraftCheck::default() },
            };
            let draft = ImportDraft {
                id: ImportDraftId::generate(self.transfers.cx.ids()),
                router_id: router.id,
                on_conflict,
                status: DraftStatus::Pending,
                size: i64::try_from(json.len()).unwrap_or(i64::MAX),
                is_valid: check.is_valid(),
                created_at: now,
                expires_at: now + KEPT,
                applied_at: None,
            };
            let draft = CheckedDraft { draft, check };
            tx.import_drafts().insert(&draft, &json).await.map_err(router_gone::<Error>)?;
            Ok(draft)
        })
        .await?;
        Ok(outcome.inspect(|made| self.transfers.changes.created(author, &made.draft)))
    }

    /// Imports the file of a draft, if the import still does what the draft shows. A draft is applied once.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Applied`], [`Error::Invalid`], [`Error::Stale`], [`Error::Transfer`],
    /// [`Error::Storage`].
    pub async fn apply(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ImportDraftId,
    ) -> Result<(ImportDraft, ImportReport), Error> {
        let (CheckedDraft { draft, check: shown }, file) = self.unpack(reach, id).await?;
        let mut tx = self.store().begin().await?;
        // The router first, as where a draft is created and where the router is deleted.
        let router = tx.router_catalog().find_for_update(&draft.router_id).await?.ok_or(Error::NotFound)?;
        let before = self.within(tx.import_drafts().find_for_update(id).await?, reach)?;
        if before.status == DraftStatus::Applied {
            return Err(Error::Applied);
        }
        let now = planned(&mut tx, &router, &file, before.on_conflict).await?;
        if !now.is_valid() || touched(&now) != touched(&shown) {
            return Err(Error::Stale(differences(&shown, &now)));
        }
        let (report, notes) =
            self.transfers.land_in_router(&mut tx, &router, &file, before.on_conflict).await?;
        let at = self.transfers.cx.now();
        let after = ImportDraft { status: DraftStatus::Applied, applied_at: Some(at), ..before.clone() };
        tx.import_drafts().save(&after).await?;
        tx.commit().await?;
        self.transfers.tell(author, &report, notes);
        self.transfers.changes.updated(author, &before, &after);
        Ok((after, report))
    }

    /// Returns a draft that may be applied, and its file, which is read before a transaction waits for it. Neither the
    /// file nor the check of a draft ever changes.
    async fn unpack(
        &self,
        reach: Reach<'_>,
        id: &ImportDraftId,
    ) -> Result<(CheckedDraft, TransferFile), Error> {
        let checked = self.get(reach, id).await?;
        if checked.draft.status == DraftStatus::Applied {
            return Err(Error::Applied);
        }
        if !checked.check.is_valid() {
            let errors = checked.check.errors.iter().map(|one| (one.place.clone(), one.text()));
            return Err(Error::Invalid(errors.collect()));
        }
        let json = self.store().read().await?.import_drafts().file(id).await?;
        let file = read(json.ok_or(Error::NotFound)?).await?;
        Ok((checked, file))
    }

    /// Deletes a draft; what it was applied to stays.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &ImportDraftId) -> Result<(), Error> {
        let mut tx = self.store().begin().await?;
        let before = self.within(tx.import_drafts().find_for_update(id).await?, reach)?;
        tx.import_drafts().delete(id).await?;
        tx.commit().await?;
        self.transfers.changes.deleted(author, &before);
        Ok(())
    }

    fn within(&self, found: Option<ImportDraft>, reach: Reach<'_>) -> Result<ImportDraft, Error> {
        let now = self.transfers.cx.now();
        found
            .filter(|draft| reach.contains(&draft.router_id) && draft.expires_at > now)
            .ok_or(Error::NotFound)
    }
}

/// Writes a file where no other task waits for it: it may be large.
async fn written(file: TransferFile) -> Result<(String, TransferFile), StorageError> {
    let written = aside(move || serde_json::to_string(&file).map(|json| (json, file))).await?;
    written.map_err(|error| StorageError::Other(Box::new(error)))
}

/// Reads a file where no other task waits for it: it may be large.
async fn read(json: String) -> Result<TransferFile, StorageError> {
    let parsed = aside(move || serde_json::from_str(&json)).await?;
    parsed.map_err(|error| StorageError::Corrupt { entity: "import draft", reason: error.to_string() })
}

/// Plans the import of a file that was looked through.
async fn planned<X: TransferTx>(
    tx: &mut X,
    router: &Router,
    file: &TransferFile,
    on_conflict: OnConflict,
) -> Result<DraftCheck, StorageError> {
    let target = target(tx, &router.id, file).await?;
    Ok(plan(file, &target, on_conflict))
}

/// Reads the router as far as the import touches it: the variables of a flow only where the file has its name.
async fn target<X: TransferTx>(
    tx: &mut X,
    router: &RouterId,
    file: &TransferFile,
) -> Result<Target, StorageError> {
    let names: HashSet<_> = file.flows.iter().map(|flow| flow.name.as_str()).collect();
    let mut stored = tx.flow_catalog().whole(router, None).await?;
    stored.sort_by(|a, b| (a.flow.created_at, &a.flow.id).cmp(&(b.flow.created_at, &b.flow.id)));
    let mut flows = Vec::with_capacity(stored.len());
    for whole in stored {
        let variables = if names.contains(whole.flow.name.as_str()) {
            variables_of(tx, &VariableOwner::Flow(whole.flow.id.clone())).await?
        } else {
            Variables::new()
        };
        flows.push((whole, variables));
    }
    let variables = variables_of(tx, &VariableOwner::Router(router.clone())).await?;
    Ok(Target { flows, variables })
}
