//! Importing: all of a file or nothing, in one transaction.

use std::collections::{BTreeSet, HashMap};

use secrecy::SecretString;
use serde_json::json;

use super::export::{Names, flows_of};
use super::plan::{OnConflict, Place, check_file, places};
use super::references::{elsewhere, free_name, rename_flows};
use super::{
    ImportReport, ImportedChannel, ImportedFlow, ImportedVariable, Landed, Missing, PortableChannel,
    TransferError, TransferFile, TransferredFlow, TransferredRouter, TransferredVariable, Transfers,
};
use crate::change::{Author, Change, Entity, EntityKind};
use crate::crypto::Encrypted;
use crate::fault::StorageError;
use crate::flow::{Flow, FlowDraft, FlowKind, FlowVersion};
use crate::id::{ChannelId, FlowId, FlowVersionId, RouterId, VariableId};
use crate::page::{MAX_PAGE, PageRequest};
use crate::router::{Router, VariableOwner};
use crate::store::{BuilderTx, ConversationTx as _, Store, Transaction as _};
use crate::text::Text;
use crate::time::Timestamp;
use crate::variable::{Variable, VariableKey, VariableValue};

/// What an import has done so far, in its transaction.
struct Import<'a, X> {
    tx: &'a mut X,
    router: RouterId,
    now: Timestamp,
    report: ImportReport,
    /// To be noted after the commit.
    notes: Vec<(EntityKind, String, Change)>,
}

impl<S: Store> Transfers<S>
where
    S::Tx: BuilderTx,
{
    /// A whole new router.
    ///
    /// # Errors
    /// [`TransferError::Invalid`], [`TransferError::NameTaken`] unless it is renamed, [`TransferError::Storage`].
    pub async fn import_router(
        &self,
        author: &Author,
        file: TransferFile,
        on_conflict: OnConflict,
    ) -> Result<ImportReport, TransferError> {
        let file = checked(file).await?;
        let Some(settings) = &file.router else {
            let must = Text::new("Campo obrigatório", "Required field");
            return Err(TransferError::Invalid(vec![("router".to_owned(), must)]));
        };
        let mut tx = self.store.begin().await?;
        let name = free_router_name(&mut tx, &settings.name, on_conflict).await?;
        let now = self.cx.now();
        let mut router = new_router(RouterId::generate(self.cx.ids()), name, settings, now);
        tx.routers().insert(&router).await?;
        let mut import = Import::new(&mut tx, &router, now);
        import.missing_secrets(settings);
        let ids = self.flows(&mut import, &file, &[], OnConflict::Refuse).await?;
        self.router_variables(&mut import, &file.variables, OnConflict::Refuse).await?;
        self.channels(&mut import, &file, &ids).await?;
        router.initial_flow_id = settings.initial_flow.as_ref().and_then(|slug| ids.get(slug)).cloned();
        if let Some(flow) = &router.initial_flow_id {
            import.tx.routers().set_initial_flow(&router.id, Some(flow)).await?;
        }
        import.note(EntityKind::Router, router.id.to_string(), Change::Created(router.to_json()));
        let Import { report, notes, .. } = import;
        tx.commit().await?;
        self.tell(author, &router.id, notes);
        Ok(report)
    }

    /// Flows and variables into a router that is there. Settings and channels of the file stay in the file.
    ///
    /// # Errors
    /// [`TransferError::RouterNotFound`], [`TransferError::Invalid`], [`TransferError::NameTaken`],
    /// [`TransferError::Storage`].
    pub async fn import_flows(
        &self,
        author: &Author,
        router: &RouterId,
        file: TransferFile,
        on_conflict: OnConflict,
    ) -> Result<ImportReport, TransferError> {
        let file = checked(file).await?;
        let mut tx = self.store.begin().await?;
        let router = tx.router_catalog().find_for_update(router).await?;
        let router = router.ok_or(TransferError::RouterNotFound)?;
        let existing = flows_of(&mut tx, &router.id).await?;
        let mut import = Import::new(&mut tx, &router, self.cx.now());
        self.router_variables(&mut import, &file.variables, on_conflict).await?;
        self.flows(&mut import, &file, &existing, on_conflict).await?;
        let Import { report, notes, .. } = import;
        tx.commit().await?;
        self.tell(author, &router.id, notes);
        Ok(report)
    }

    /// The flows, and their ids by what the file calls them.
    async fn flows(
        &self,
        import: &mut Import<'_, S::Tx>,
        file: &TransferFile,
        existing: &[Flow],
        on_conflict: OnConflict,
    ) -> Result<HashMap<String, FlowId>, TransferError> {
        let places = places(&file.flows, existing, on_conflict)?;
        // A file of one flow may name others, which may be there.
        let mut ids: HashMap<String, FlowId> =
            Names::of(existing).0.into_iter().map(|(id, slug)| (slug, id)).collect();
        let mut landing = Vec::with_capacity(file.flows.len());
        for (flow, place) in file.flows.iter().zip(places) {
            let flow_here = match place {
                Place::Existing(known) => *known,
                Place::New(name) => {
                    let id = FlowId::generate(self.cx.ids());
                    let kind = FlowKind::parse(&flow.kind).unwrap_or(FlowKind::Flow);
                    Flow { kind, ..Flow::new(id, import.router.clone(), name, import.now) }
                }
            };
            ids.insert(flow.slug.clone(), flow_here.id.clone());
            landing.push(flow_here);
        }
        let here: HashMap<&str, String> =
            ids.iter().map(|(slug, id)| (slug.as_str(), id.to_string())).collect();
        for (index, (sent, flow)) in file.flows.iter().zip(landing).enumerate() {
            let known = existing.iter().any(|known| known.id == flow.id);
            self.flow(import, sent, flow, known, &here, &format!("flows[{index}]")).await?;
        }
        Ok(ids)
    }

    async fn flow(
        &self,
        import: &mut Import<'_, S::Tx>,
        sent: &TransferredFlow,
        mut flow: Flow,
        known: bool,
        here: &HashMap<&str, String>,
        place: &str,
    ) -> Result<(), TransferError> {
        let before = flow.clone();
        if !known {
            import.tx.flows().insert(&flow).await?;
            import.note(EntityKind::of(flow.kind), flow.id.to_string(), Change::Created(flow.to_json()));
        }
        let mut missing = BTreeSet::new();
        let mut settled = |definition: &serde_json::Value| {
            let mut definition = definition.clone();
            let unknown = rename_flows(&mut definition, here);
            missing.extend(unknown.into_iter().map(|name| ("flowId", name)));
            missing.extend(elsewhere(&definition));
            definition
        };
        let (draft, published) = (settled(&sent.draft), sent.published.as_ref().map(&mut settled));
        let revision = match import.tx.flow_catalog().draft(&flow.id).await? {
            Some(draft) => draft.revision + 1,
            None => 1,
        };
        let draft = FlowDraft { revision, definition: draft, updated_at: import.now };
        import.tx.flow_catalog().put_draft(&flow.id, &draft).await?;
        let mut published_version = None;
        if let Some(definition) = published {
            let number = import.tx.flow_catalog().last_numbers(&flow.id).await?.published + 1;
            let version = FlowVersion {
                id: FlowVersionId::generate(self.cx.ids()),
                flow_id: flow.id.clone(),
                router_id: flow.router_id.clone(),
                flow_name: flow.name.clone(),
                number,
                definition,
                created_at: import.now,
            };
            import.tx.flows().publish(&version).await?;
            flow.published_version_id = Some(version.id.clone());
            flow.test_version_id = None;
            published_version = Some(number);
            let what = json!({ "number": number, "versionId": version.id, "imported": true });
            import.note(EntityKind::of(flow.kind), flow.id.to_string(), Change::Published(what));
        }
        if known {
            flow.updated_at = import.now;
            let change = Change::Updated { before: before.to_json(), after: flow.to_json() };
            import.note(EntityKind::of(flow.kind), flow.id.to_string(), change);
        }
        import.tx.flow_catalog().save(&flow).await?;
        let owner = VariableOwner::Flow(flow.id.clone());
        self.variables(import, &owner, &sent.variables, OnConflict::Replace, place).await?;
        for (kind, name) in missing {
            import.report.missing.push(Missing { kind, place: place.to_owned(), name: Some(name) });
        }
        let landed = match (known, flow.name == sent.name) {
            (true, _) => Landed::Replaced,
            (false, true) => Landed::Created,
            (false, false) => Landed::Renamed,
        };
        let (slug, id, name) = (sent.slug.clone(), flow.id, flow.name);
        import.report.flows.push(ImportedFlow { slug, id, name, landed, published_version });
        Ok(())
    }

    async fn router_variables(
        &self,
        import: &mut Import<'_, S::Tx>,
        sent: &[TransferredVariable],
        on_conflict: OnConflict,
    ) -> Result<(), TransferError> {
        let owner = VariableOwner::Router(import.router.clone());
        let landed = self.variables(import, &owner, sent, on_conflict, "").await?;
        import.report.variables = landed;
        Ok(())
    }

    /// Variables of one owner. A key cannot be another one, so with `Rename` what is there stays; the value of a
    /// secret that is there always does.
    async fn variables(
        &self,
        import: &mut Import<'_, S::Tx>,
        owner: &VariableOwner,
        sent: &[TransferredVariable],
        on_conflict: OnConflict,
        place: &str,
    ) -> Result<Vec<ImportedVariable>, TransferError> {
        if sent.is_empty() {
            return Ok(Vec::new());
        }
        let stored = variables_of(import.tx, owner).await?;
        let (mut done, mut conflicts) = (Vec::with_capacity(sent.len()), Vec::new());
        for (index, variable) in sent.iter().enumerate() {
            let dot = if place.is_empty() { "" } else { "." };
            let at = format!("{place}{dot}variables[{index}]");
            let known = stored.get(variable.key.as_str());
            let landed = match (known, on_conflict) {
                (None, _) => Landed::Created,
                (Some(_), OnConflict::Refuse) => {
                    let key = variable.key.clone();
                    conflicts.push((format!("{at}.key"), Text::of(key.clone(), key)));
                    continue;
                }
                (Some(known), OnConflict::Replace) if !known.value.is_secret() && !variable.is_secret => {
                    Landed::Replaced
                }
                (Some(_), _) => Landed::Kept,
            };
            if landed != Landed::Kept {
                self.put_variable(import, owner, variable, known, &at).await?;
            }
            done.push(ImportedVariable { key: variable.key.clone(), landed });
        }
        conflicts.truncate(100);
        if conflicts.is_empty() { Ok(done) } else { Err(TransferError::NameTaken(conflicts)) }
    }

    async fn put_variable(
        &self,
        import: &mut Import<'_, S::Tx>,
        owner: &VariableOwner,
        variable: &TransferredVariable,
        known: Option<&Variable>,
        place: &str,
    ) -> Result<(), StorageError> {
        // A secret arrives empty, and is to be filled in.
        let sent = SecretString::from(variable.value.clone().unwrap_or_default());
        let value = VariableValue::of(&sent, variable.is_secret, &self.master_key);
        let now = import.now;
        let (stored, change) = match known {
            Some(known) => {
                let stored = Variable { value, updated_at: now, ..known.clone() };
                import.tx.variables().save(&stored).await?;
                let change = Change::Updated { before: known.to_json(), after: stored.to_json() };
                (stored, change)
            }
            None => {
                let key = VariableKey::parse(&variable.key).map_err(|error| StorageError::Corrupt {
                    entity: "variable",
                    reason: error.to_string(),
                })?;
                let id = VariableId::generate(self.cx.ids());
                let owner = owner.clone();
                let stored = Variable { id, owner, key, value, created_at: now, updated_at: now };
                import.tx.variables().insert_if_absent(&stored).await?;
                let change = Change::Created(stored.to_json());
                (stored, change)
            }
        };
        let kind = match owner {
            VariableOwner::Router(_) => EntityKind::RouterVariable,
            VariableOwner::Flow(_) => EntityKind::FlowVariable,
        };
        import.note(kind, stored.id.to_string(), change);
        if variable.is_secret {
            let name = Some(variable.key.clone());
            import.report.missing.push(Missing { kind: "secretVariable", place: place.to_owned(), name });
        }
        Ok(())
    }

    async fn channels(
        &self,
        import: &mut Import<'_, S::Tx>,
        file: &TransferFile,
        ids: &HashMap<String, FlowId>,
    ) -> Result<(), TransferError> {
        for (index, sent) in file.channels.iter().enumerate() {
            let channel = PortableChannel {
                id: ChannelId::generate(self.cx.ids()),
                name: sent.name.clone(),
                appearance: sent.appearance.clone(),
                allowed_origins: sent.allowed_origins.clone(),
                initial_flow_id: sent.initial_flow.as_ref().and_then(|slug| ids.get(slug)).cloned(),
                is_closed: sent.is_closed,
            };
            // What was closed stays so: nobody knows its secret until somebody makes another.
            let secret: Option<Encrypted> =
                sent.is_closed.then(|| self.master_key.encrypt(&self.cx.ids().secret(2)));
            let (router, now) = (import.router.clone(), import.now);
            import.tx.channel_transfer().insert_channel_of(&router, &channel, secret.as_ref(), now).await?;
            if sent.is_closed {
                let place = format!("channels[{index}]");
                import.report.missing.push(Missing { kind: "embedSecret", place, name: None });
            }
            let shown = json!({ "id": channel.id, "routerId": router, "name": channel.name,
                "isTestChannel": false, "appearance": channel.appearance,
                "initialFlowId": channel.initial_flow_id, "hasEmbedSecret": sent.is_closed,
                "allowedOrigins": channel.allowed_origins });
            let kind = EntityKind::WebchatChannel;
            import.note(kind, channel.id.to_string(), Change::Created(shown));
            import.report.channels.push(ImportedChannel { id: channel.id, name: channel.name });
        }
        Ok(())
    }

    fn tell(&self, author: &Author, router: &RouterId, notes: Vec<(EntityKind, String, Change)>) {
        for (kind, id, change) in notes {
            self.changes.note(author, Entity { kind, id: &id, router_id: Some(router) }, change);
        }
    }
}

impl<'a, X> Import<'a, X> {
    fn new(tx: &'a mut X, router: &Router, now: Timestamp) -> Self {
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
                self.report.missing.push(Missing { kind, place: "router".to_owned(), name: None });
            }
        }
    }
}

/// The variables of an owner, by their keys.
async fn variables_of<X: BuilderTx>(
    tx: &mut X,
    owner: &VariableOwner,
) -> Result<HashMap<String, Variable>, StorageError> {
    let mut request = PageRequest { limit: MAX_PAGE, after: None };
    let mut found = HashMap::new();
    loop {
        let page = tx.variables().list(owner, &request).await?;
        found.extend(page.items.into_iter().map(|variable| (variable.key.to_string(), variable)));
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(found),
        }
    }
}

/// The file, looked through where no other task waits for it: it may be large.
async fn checked(file: TransferFile) -> Result<TransferFile, TransferError> {
    let look = tokio::task::spawn_blocking(move || check_file(&file).map(|()| file));
    look.await.map_err(|error| StorageError::Other(Box::new(error)))?
}

async fn free_router_name<X: BuilderTx>(
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
        ..Router::new(id, name, now)
    }
}
