//! Importing: all of a file or nothing, in one transaction.

mod channels;
mod flows;
mod variables;

pub(in crate::transfer) use variables::variables_of;

use std::collections::BTreeSet;

use super::export::flows_of;
use super::plan::OnConflict;
use super::references::free_name;
use super::{ImportReport, Missing, TransferError, TransferFile, TransferredRouter, Transfers};
use crate::change::{Author, Change, Entity, EntityKind, Recorded as _};
use crate::id::RouterId;
use crate::idempotency::{Once, Outcome, perform_once};
use crate::router::{Admitted, AdmittedRouter, AllRouters, HasRouterCatalog as _, HasRouters as _, Router};
use crate::store::Store;
use crate::text::Text;
use crate::time::Timestamp;
use crate::transfer::TransferTx;

/// The changes that an import made, to be noted after the commit.
pub(in crate::transfer) type Notes = Vec<(EntityKind, String, Change)>;

/// The progress of an import, in its transaction.
struct Import<'t, X> {
    tx: &'t mut X,
    router: RouterId,
    now: Timestamp,
    report: ImportReport,
    notes: Notes,
}

impl<S: Store> Transfers<S>
where
    S::Tx: TransferTx,
{
    /// A whole new router, once for each idempotency key.
    ///
    /// # Errors
    /// [`TransferError::Invalid`], [`TransferError::NameTaken`] unless it is renamed, [`TransferError::Idempotency`],
    /// [`TransferError::Storage`].
    pub async fn import_router(
        &self,
        author: &Author,
        _all_routers: Admitted<AllRouters>,
        file: TransferFile,
        on_conflict: OnConflict,
        once: Option<Once<ImportReport>>,
    ) -> Result<Outcome<ImportReport>, TransferError> {
        let file = self.checked(file).await?;
        let Some(settings) = &file.router else {
            let must = Text::new("Campo obrigatório", "Required field");
            return Err(TransferError::Invalid(vec![("router".to_owned(), must)]));
        };
        let mut notes = Vec::new();
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let name = free_router_name(tx, &settings.name, on_conflict).await?;
            let now = self.cx.now();
            let mut router = new_router(RouterId::generate(self.cx.ids()), name, settings, now);
            tx.routers().insert(&router).await?;
            let mut import = Import::new(tx, &router, now);
            import.missing_secrets(settings);
            let ids = self.flows(&mut import, &file, &[], OnConflict::Refuse).await?;
            self.router_variables(&mut import, &file.variables, OnConflict::Refuse).await?;
            self.channels(&mut import, &file, &ids).await?;
            router.initial_flow_id = settings.initial_flow.as_ref().and_then(|slug| ids.get(slug)).cloned();
            if let Some(flow) = &router.initial_flow_id {
                import.tx.routers().set_initial_flow(&router.id, Some(flow)).await?;
            }
            import.note(EntityKind::Router, router.id.to_string(), Change::Created(router.to_json()));
            notes = import.notes;
            Ok::<_, TransferError>(import.report)
        })
        .await?;
        Ok(outcome.inspect(|report| self.tell(author, report, notes)))
    }

    /// Flows and variables into a router that is there, once for each idempotency key. Settings and channels of the
    /// file stay in the file.
    ///
    /// # Errors
    /// [`TransferError::RouterNotFound`], [`TransferError::Invalid`], [`TransferError::NameTaken`],
    /// [`TransferError::Idempotency`], [`TransferError::Storage`].
    pub async fn import_flows(
        &self,
        author: &Author,
        router: &AdmittedRouter,
        file: TransferFile,
        on_conflict: OnConflict,
        once: Option<Once<ImportReport>>,
    ) -> Result<Outcome<ImportReport>, TransferError> {
        let file = self.checked(file).await?;
        let mut notes = Vec::new();
        let outcome = perform_once(&*self.store, once, self.cx.now(), async |tx| {
            let router = tx.router_catalog().find_for_update(router).await?;
            let router = router.ok_or(TransferError::RouterNotFound)?;
            let (report, noted) = self.land_in_router(tx, &router, &file, on_conflict).await?;
            notes = noted;
            Ok::<_, TransferError>(report)
        })
        .await?;
        Ok(outcome.inspect(|report| self.tell(author, report, notes)))
    }

    /// Imports the flows and variables of a file that was looked through into a router that is locked. The notes are
    /// for [`Self::tell`], after the commit.
    pub(in crate::transfer) async fn land_in_router(
        &self,
        tx: &mut S::Tx,
        router: &Router,
        file: &TransferFile,
        on_conflict: OnConflict,
    ) -> Result<(ImportReport, Notes), TransferError> {
        let existing = flows_of(tx, &router.id).await?;
        let mut import = Import::new(tx, router, self.cx.now());
        self.router_variables(&mut import, &file.variables, on_conflict).await?;
        self.flows(&mut import, file, &existing, on_conflict).await?;
        Ok((import.report, import.notes))
    }

    /// Returns a file that can be imported.
    async fn checked(&self, file: TransferFile) -> Result<TransferFile, TransferError> {
        let (file, checked) = self.look_through(file).await?;
        checked.map(|()| file)
    }

    pub(in crate::transfer) fn tell(&self, author: &Author, report: &ImportReport, notes: Notes) {
        for (kind, id, change) in notes {
            let entity = Entity { kind, id: &id, router_id: Some(&report.router_id) };
            self.changes.note(author, entity, change);
        }
    }
}

impl<'t, X> Import<'t, X> {
    fn new(tx: &'t mut X, router: &Router, now: Timestamp) -> Self {
        let report = ImportReport {
            router_id: router.id.clone(),
            router_name: router.name.clone(),
            flows: Vec::new(),
            variables: Vec::new(),
            channels: Vec::new(),
            missing: Vec::new(),
        };
        Self { tx, router: router.id.clone(), now, report, notes: Vec::new() }
    }

    fn note(&mut self, kind: EntityKind, id: String, change: Change) {
        self.notes.push((kind, id, change));
    }

    fn missing_secrets(&mut self, router: &TransferredRouter) {
        for (kind, had) in [
            ("channelAppSecret", router.has_channel_app_secret),
            ("channelVerifyToken", router.has_channel_verify_token),
        ] {
            if had {
                let (place, id) = ("router".to_owned(), self.router.to_string());
                self.report.missing.push(Missing { kind, place, name: None, id });
            }
        }
    }
}

async fn free_router_name<X: TransferTx>(
    tx: &mut X,
    name: &str,
    on_conflict: OnConflict,
) -> Result<String, TransferError> {
    let (mut taken, mut free) = (BTreeSet::new(), name.to_owned());
    while tx.router_catalog().has_name(&free).await? {
        if on_conflict != OnConflict::Rename {
            let text = Text::of(name.to_owned(), name.to_owned());
            return Err(TransferError::NameTaken(vec![("router.name".to_owned(), text)]));
        }
        taken.insert(free);
        free = free_name(name, &taken);
    }
    Ok(free)
}

fn new_router(id: RouterId, name: String, sent: &TransferredRouter, now: Timestamp) -> Router {
    Router {
        tz: sent.tz.clone(),
        logo_url: sent.logo_url.clone(),
        sentiment_config: sent.sentiment_config.clone(),
        copilot_config: sent.copilot_config.clone(),
        helpdesk_agent_prefix_enabled: sent.helpdesk_agent_prefix_enabled,
        helpdesk_agent_prefix_template: sent.helpdesk_agent_prefix_template.clone(),
        fallback_texts: sent.fallback_texts.clone(),
        phone: sent.phone.clone(),
        ..Router::new(id, name, now)
    }
}
